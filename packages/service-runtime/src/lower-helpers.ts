import { readdir, readFile } from 'node:fs/promises';
import { setPriority } from 'node:os';

const tasks = '/proc/self/task';
const libuvName = 'libuv-worker';

/** Linux only: libuv's threads, which decompress for one caller, then take no core from the main thread. */
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
