import { readFile, realpath, rm } from 'node:fs/promises';
import { errorCode } from '../launch-error.ts';
import { endProcess } from './end-process.ts';
import { processIdentity, workingFolder } from './process-identity.ts';

/**
 * Clears the way for a server whose last run did not end well: one that still runs is ended (its pid file says which
 * process, the folder in which that works says that it is ours), and the pid file removed, because its number may
 * belong to somebody else by now, or to a process that nobody has waited for, and servers take either for themselves.
 */
export async function endLeftover(pidFile: string, folder: string, signal: NodeJS.Signals): Promise<void> {
  const pid = await readPid(pidFile);
  if (pid === undefined) return;
  const identity = processIdentity(pid);
  if (identity !== undefined) {
    const works = workingFolder(pid);
    if (works === undefined) return; // cannot be told: the server decides by its own means
    if (works === (await realpath(folder))) await endProcess(pid, { identity, signal, deadlineMs: 10_000 });
  }
  await rm(pidFile, { force: true });
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
