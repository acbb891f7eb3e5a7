import { readdir, readFile, realpath, rm } from 'node:fs/promises';
import { errorCode } from '../launch-error.ts';
import { endProcess } from './end-process.ts';
import { nameOf, processIdentity, workingFolder } from './process-identity.ts';

/**
 * Cleans up after a server that did not end properly. A server that still runs is ended: its pid file names the
 * process, and its working folder proves that it is ours. The pid file is removed, because its number may by now belong
 * to another process or a zombie, which the new server would take for a running one.
 */
export async function endLeftover(pidFile: string, folder: string, signal: NodeJS.Signals): Promise<void> {
  const pid = await readPid(pidFile);
  if (pid === undefined) return;
  const identity = processIdentity(pid);
  if (identity !== undefined) {
    const works = workingFolder(pid);
    if (works === undefined) return; // unknown, so the server decides by its own means
    if (works === (await realpath(folder))) await endProcess(pid, { identity, signal, deadlineMs: 10_000 });
  }
  await rm(pidFile, { force: true });
}

/**
 * Ends processes of a server that outlived it. A killed Postgres leaves its sessions, which notice only later, and
 * until then would write into files that the next Postgres recovers.
 */
export async function endOrphans(folder: string, name: string): Promise<void> {
  if (process.platform !== 'linux') return;
  const works = await realpath(folder);
  const numbers = (await readdir('/proc')).map(Number).filter((number) => number > 0);
  const orphans = numbers.filter((pid) => workingFolder(pid) === works && nameOf(pid) === name);
  await Promise.all(
    orphans.map(async (pid) => {
      const identity = processIdentity(pid);
      if (identity !== undefined) await endProcess(pid, { identity, signal: 'SIGKILL', deadlineMs: 0 });
    }),
  );
}

async function readPid(pidFile: string): Promise<number | undefined> {
  try {
    const pid = Number.parseInt(await readFile(pidFile, 'utf8'), 10);
    return pid > 0 ? pid : undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
