import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stack } from '@sluice/local';
import type { Finder } from '../search/finder.ts';

/** The command lines of our processes and of theirs, which every user of the machine can read. Where there is no /proc: none. */
export async function searchCommandLines({ processes }: Stack, finder: Finder): Promise<void> {
  if (process.platform !== 'linux') return;
  const ours = new Set(Array.from(processes.values(), ({ pid }) => String(pid)));
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || !(ours.has(pid) || ours.has(await parentOf(pid)))) continue;
    const line = await readIfThere(`/proc/${pid}/cmdline`);
    finder.search('command lines', line.toString().replaceAll('\0', ' ').slice(0, 100), line);
  }
}

async function parentOf(pid: string): Promise<string> {
  const stat = (await readIfThere(`/proc/${pid}/stat`)).toString();
  // The name, in parentheses, may hold anything; behind it stand the state and the parent.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '';
}

/** Processes of others come and go meanwhile. */
async function readIfThere(file: string): Promise<Buffer> {
  return readFile(file).catch(() => Buffer.alloc(0));
}

/** What the services tell a monitoring system, from the ports that their logs name. */
export async function searchMetrics(directory: string, names: readonly string[], finder: Finder): Promise<void> {
  for (const name of names) {
    const log = await readFile(join(directory, 'logs', `${name}.log`), 'utf8');
    const port = /"admin_port":(\d+)/.exec(log)?.[1];
    if (!port) throw new Error(`The log of ${name} names no port`);
    for (const path of ['/metrics', '/readyz', '/livez']) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      finder.search('metrics', `${name} ${path}`, Buffer.from(await answer.text()));
    }
  }
}
