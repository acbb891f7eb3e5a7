import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Node } from '../cluster/node.ts';
import { startRepeating } from './clients.ts';

/**
 * What a process holds: memory in MiB, sockets and threads; proc(5). Pages of files, such as Node itself, do not count, because
 * a cgroup that reaches its limit gives them back.
 */
export async function sampleProcess({ name, pid }: Pick<Node, 'name' | 'pid'>) {
  if (pid === undefined) throw new Error(`${name} does not run`);
  const status = await readFile(`/proc/${pid}/status`, 'latin1');
  const field = (label: string) => Number(new RegExp(`^${label}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  const descriptors = await readdir(`/proc/${pid}/fd`);
  // One that has been closed meanwhile leads nowhere.
  const targets = await Promise.all(descriptors.map((one) => readlink(`/proc/${pid}/fd/${one}`).catch(() => '')));
  const sockets = targets.filter((target) => target.startsWith('socket:')).length;
  return { pid, memory: (field('RssAnon') + field('RssShmem')) / 1024, sockets, threads: field('Threads') };
}

/** Measures the memory of a process, in MiB, ten times a second until it is stopped. */
export function watchMemory(node: Pick<Node, 'name' | 'pid'>, onSample?: (memory: number) => void) {
  const seen: number[] = [];
  const watching = startRepeating(1, async () => {
    const { memory } = await sampleProcess(node);
    seen.push(memory);
    onSample?.(memory);
    await wait(100);
  });
  return {
    async stop() {
      await watching.stop();
      // Afterwards: the least that was measured of late
      return { before: seen[0] ?? 0, peak: Math.max(...seen), after: Math.min(...seen.slice(-5)) };
    },
  };
}
