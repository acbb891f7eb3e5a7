import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a folder of the test's own, which is removed with the stack. */
export function openTemporaryFolder(stack: AsyncDisposableStack, name: string): Promise<string> {
  return openFolder(stack, tmpdir(), name);
}

/** The same for stores, whose data are in memory where the machine has enough. No program can be run from there. */
export function openStoresFolder(stack: AsyncDisposableStack, name: string): Promise<string> {
  return openFolder(stack, process.env.TEST_STORES_FOLDER ?? tmpdir(), name);
}

async function openFolder(stack: AsyncDisposableStack, parent: string, name: string): Promise<string> {
  const folder = await mkdtemp(join(parent, `sluice-${name}-`));
  // Processes that have just been ended may still write to it.
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return folder;
}
