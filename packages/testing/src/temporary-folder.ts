import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a folder of the test's own, which is removed with the stack. */
export async function openTemporaryFolder(stack: AsyncDisposableStack, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `sluice-${name}-`));
  // Processes that have just been ended may still write to it.
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return folder;
}
