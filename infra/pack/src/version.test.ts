import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '@sluice/local/parts';

const read = (path: string) => readFile(join(repositoryRoot, path), 'utf8');

test('all packages have one version, and the changelog begins with it', async () => {
  const { version, workspaces } = JSON.parse(await read('package.json'));
  const versions = new Map<string, string>();
  const manifests = workspaces.map((pattern: string) => `${pattern}/package.json`);
  for await (const path of glob(manifests, { cwd: repositoryRoot })) {
    versions.set(path, JSON.parse(await read(path)).version);
  }
  expect(versions.size).toBeGreaterThan(20);
  expect([...versions].filter(([, own]) => own !== version)).toEqual([]);
  const [, newest] = /^## (.+)$/m.exec(await read('CHANGELOG.md')) ?? [];
  expect(newest).toBe(version);
});
