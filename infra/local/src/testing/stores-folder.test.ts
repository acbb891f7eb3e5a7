import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openStoresFolder } from './stores-folder.ts';

test('stores of tests are not in memory where the cgroup leaves less than 4 GiB, and their folder is removed', async () => {
  await using opened = new AsyncDisposableStack();
  const folder = await openStoresFolder(opened, 4 * 1024 ** 3 - 1);
  expect(dirname(folder)).toBe(tmpdir());
  expect((await stat(folder)).mode & 0o777).toBe(0o711);
  await opened.disposeAsync();
  expect(existsSync(folder)).toBe(false);
});

test('what a killed run left is removed, and what belongs to a run that goes on is not', async () => {
  await using opened = new AsyncDisposableStack();
  const { pid } = spawnSync('true');
  const folders = [pid, process.ppid].map((owner) => join(tmpdir(), `sluice-test-${owner}-left`));
  for (const folder of folders) {
    await mkdir(folder);
    opened.defer(() => rm(folder, { recursive: true, force: true }));
  }
  await openStoresFolder(opened, 0);
  expect(folders.map((folder) => existsSync(folder))).toEqual([false, true]);
});
