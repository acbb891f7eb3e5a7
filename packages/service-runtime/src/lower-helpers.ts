import { readdir, readFile } from 'node:fs/promises';
import { setPriority } from 'node:os';

/** Lists the threads of this process. */
const tasks = '/proc/self/task';
const libuvName = 'libuv-worker';

/**
 * Lowers the priority of libuv's threads, so that what they decompress for one caller takes no core from the main
 * thread, which serves all. Only on Linux, where each thread has its own priority.
 */
export async function lowerLibuvThreads(niceness: number): Promise<void> {
  if (process.platform !== 'linux') return;
  // Reading the list has started the threads, all at the same time.
  for (const id of await readdir(tasks)) {
    const name = await readFile(`${tasks}/${id}/comm`, 'utf8').catch(ofEndedThread);
    if (name?.trim() === libuvName) setPriority(Number(id), niceness);
  }
}

function ofEndedThread(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error;
}
