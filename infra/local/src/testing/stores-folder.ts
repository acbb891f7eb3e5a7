import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const inMemory = '/dev/shm';
const neededBytes = 4 * 1024 ** 3;

/**
 * Makes the folder in which all stores of a test run keep their data, and removes it with the stack. It is in memory
 * where there is enough, because that takes half of Postgres's processor time. `process.availableMemory` knows the
 * limit of the cgroup, too.
 */
export async function openStoresFolder(opened: AsyncDisposableStack, available = process.availableMemory()) {
  const parent = Math.min(available, await freeBytesOf(inMemory)) >= neededBytes ? inMemory : tmpdir();
  await removeLeftovers(parent);
  const folder = await mkdtemp(join(parent, `sluice-test-${process.pid}-`));
  opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  await chmod(folder, 0o711); // Postgres runs as another user
  return folder;
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder).catch(() => ({ bavail: 0, bsize: 0 })); // it is only there on Linux
  return bavail * bsize;
}

/** A run that was killed leaves its folder, which would take memory until the machine restarts. */
async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid] = /^sluice-test-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(parent, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
