import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildContextFiles, readDockerignore } from './rehearsal/build-context.ts';
import { repositoryRoot } from './rehearsal/compose-file.ts';

test('images are built from manifests and sources, with the settings of npm', async () => {
  const files = await buildContextFiles(repositoryRoot);
  expect(files.filter((file) => !/^(infra|packages|services)\//.test(file)).sort()).toEqual([
    '.npmrc',
    'package-lock.json',
    'package.json',
  ]);
  expect(files).toContain('services/worker/src/main.ts');
  expect(files.filter((file) => /\.test\.ts$|\.md$|\/rehearsal\/|\/src\/.*testing\//.test(file))).toEqual([]);
});

test('what may hold secrets or data never gets to the builder', async () => {
  const isIgnored = readDockerignore(await readFile(join(repositoryRoot, '.dockerignore'), 'utf8'));
  const guarded = ['.env', 'services/worker/.env', 'infra/docker/.env.local', '.sluice/secrets.json', '.git/config'];
  expect(guarded.filter((path) => !isIgnored(path))).toEqual([]);
  expect(
    ['node_modules/pg/index.js', 'packages/vault/node_modules/x/index.js', 'credentials.json'].filter(
      (path) => !isIgnored(path),
    ),
  ).toEqual([]);
});

test.each([
  ['*', '.env', true],
  ['*\n!infra', 'infra/docker/Dockerfile', false],
  ['*\n!infra\n**/*.md', 'infra/docker/README.md', true],
  ['**/*.md\n!README.md', 'README.md', false],
  ['*.md', 'infra/README.md', false],
  ['a?c', 'abc', true],
  ['a.c', 'abc', false],
])('%j: is %s ignored? %s', (text, path, ignored) => {
  expect(readDockerignore(text)(path)).toBe(ignored);
});
