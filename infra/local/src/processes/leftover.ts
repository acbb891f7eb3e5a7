import { readFile, realpath, rm } from 'node:fs/promises';
import { errorCode } from '../launch-error.ts';
import { endProcess } from './end-process.ts';
import { processIdentity, workingFolder } from './process-identity.ts';

/**
 * Cleans up after a server that did not end properly. If it still runs, it is ended; its pid file names the process,
 * and the folder it works in proves that it is ours. The pid file is removed, because its number may by now belong to
 * another process or a zombie, which the server would take for itself.
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

async function readPid(pidFile: string): Promise<number | undefined> {
  try {
    const pid = Number.parseInt(await readFile(pidFile, 'utf8'), 10);
    return pid > 0 ? pid : undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
