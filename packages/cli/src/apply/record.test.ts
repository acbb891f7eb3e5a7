import { mkdirSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keys, startService, type } from '../testing/test-command-line.ts';

/** A Tenant in which each creation gives `id-<name>`; `onCreate` runs before the answer. */
async function setUp(closing: AsyncDisposableStack, onCreate: () => void = () => undefined) {
  const existing: Record<string, { id: string; name: string }[]> = { applications: [], proxies: [] };
  const service = await startService(closing, ({ method, url, body }) => {
    if (url === '/applications/key') return { status: 200, body: { id: 'caller', tenant_id: 'tenant' } };
    const kind = url.startsWith('/proxies') ? 'proxies' : 'applications';
    if (method === 'GET') {
      const data = existing[kind] ?? [];
      const pagination = { total_items: data.length, page_number: 1, page_size: 100, total_pages: 1 };
      return { status: 200, body: { pagination, data } };
    }
    if (method !== 'POST') return { status: 200, body: {} };
    onCreate();
    const made = { ...JSON.parse(body), id: `id-${JSON.parse(body).name}` };
    existing[kind]?.push(made);
    return { status: 201, body: { ...made, key: `key ${made.name}` } };
  });
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  const env = { SLUICE_URL: service.url, SLUICE_API_KEY: keys.management };
  const apply = (file: string, ...more: string[]) => type(['apply', '-f', file, '--yes', ...more], { env });
  const changes = () => service.seen.filter(({ method }) => method !== 'GET').map(({ method, url }) => method + url);
  return { home, apply, changes, write: (name: string, text: string) => writeFile(join(home, name), text) };
}

const application = 'applications: [{ name: a, type: private, permissions: [token:use] }]';

test('where no record can be written, nothing is done, and no file for keys is left', async () => {
  await using closing = new AsyncDisposableStack();
  const { home, apply, changes, write } = await setUp(closing);
  await write('platform.yaml', application);
  const file = await open(join(home, 'platform.yaml'));
  closing.defer(() => file.close());
  const piped = `/dev/fd/${file.fd}`; // what <(...) of a shell gives
  const { code, error } = await apply(piped, '--keys', join(home, 'keys'));
  expect([code, error]).toEqual([
    2,
    expect.stringMatching(/^Nothing was done: \S+applied\.json cannot be written \(E/),
  ]);
  expect([changes(), await readdir(home)]).toEqual([[], ['platform.yaml']]);
});

test('what only changes needs no record', async () => {
  await using closing = new AsyncDisposableStack();
  const { home, apply, changes, write } = await setUp(closing);
  await write('platform.yaml', application);
  await apply(join(home, 'platform.yaml'));
  await write('platform.yaml', application.replace('token:use', 'token:read'));
  const file = await open(join(home, 'platform.yaml'));
  closing.defer(() => file.close());
  expect((await apply(`/dev/fd/${file.fd}`)).code).toBe(0);
  expect(changes()).toEqual(['POST/applications', 'PUT/applications/id-a']);
});

test('the key of a new Application is kept also where the record cannot be written any more', async () => {
  await using closing = new AsyncDisposableStack();
  const record = 'platform.yaml.applied.json';
  const { home, apply, write } = await setUp(closing, () => {
    rmSync(join(home, record), { force: true });
    mkdirSync(join(home, record));
  });
  await write('platform.yaml', application);
  const { code, error } = await apply(join(home, 'platform.yaml'), '--keys', join(home, 'keys'));
  expect([code, error]).toEqual([
    1,
    expect.stringMatching(/id-a\) was created, but \S+applied\.json cannot be written \(E/),
  ]);
  const kept = { name: 'a', id: 'id-a', key: 'key a' };
  expect(JSON.parse(await readFile(join(home, 'keys'), 'utf8'))).toEqual(kept);
});

test('where a key cannot be kept, the Application is recorded, and no further one is created', async () => {
  await using closing = new AsyncDisposableStack();
  const { home, apply, changes, write } = await setUp(closing);
  await write(
    'platform.yaml',
    'applications: [{ name: a, type: private, permissions: [token:use] }, { name: b, type: private, permissions: [token:use] }]',
  );
  const handle = await open(join(home, 'platform.yaml'));
  closing.defer(() => handle.close());
  const prototype = Object.getPrototypeOf(handle);
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  const appendFile = jest.spyOn(prototype, 'appendFile').mockRejectedValue(full);
  closing.defer(() => appendFile.mockRestore());
  const { code, error } = await apply(join(home, 'platform.yaml'), '--keys', join(home, 'keys'));
  expect([code, error]).toEqual([1, expect.stringContaining('sluice keys create id-a')]);
  expect(changes()).toEqual(['POST/applications']);
  expect(await recordOf(home, 'platform.yaml')).toEqual({ a: 'id-a' });
});

async function recordOf(home: string, file: string): Promise<unknown> {
  return JSON.parse(await readFile(join(home, `${file}.applied.json`), 'utf8')).tenant.applications;
}

test('files that differ in their extension alone have a record each, and prune nothing of each other', async () => {
  await using closing = new AsyncDisposableStack();
  const { home, apply, changes, write } = await setUp(closing);
  await write('platform.yaml', application);
  await write(
    'platform.json',
    '{ "applications": [{ "name": "b", "type": "private", "permissions": ["token:use"] }] }',
  );
  await apply(join(home, 'platform.yaml'));
  await apply(join(home, 'platform.json'), '--prune');
  expect(changes()).toEqual(['POST/applications', 'POST/applications']);
  expect(await recordOf(home, 'platform.yaml')).toEqual({ a: 'id-a' });
  expect(await recordOf(home, 'platform.json')).toEqual({ b: 'id-b' });
});

test('a record of an earlier version is neither forgotten nor taken for the record of the wrong file', async () => {
  await using closing = new AsyncDisposableStack();
  const { home, apply, changes, write } = await setUp(closing);
  await write('platform.yaml', application);
  await write('platform.applied.json', '{"tenant":{"applications":{"z":"id-z"}}}');
  const { code, error } = await apply(join(home, 'platform.yaml'));
  expect([code, error]).toEqual([
    2,
    expect.stringMatching(/platform\.applied\.json .* rename .*yaml\.applied\.json/is),
  ]);
  expect(changes()).toEqual([]);
  await write('platform.yaml.applied.json', '{}');
  expect((await apply(join(home, 'platform.yaml'))).code).toBe(0);
});

test('what Windows takes for a path out of the folder is none below it', async () => {
  await using closing = new AsyncDisposableStack();
  const { home, apply, write } = await setUp(closing);
  await mkdir(join(home, 'in'));
  await write('in/..\\secret', 'applied elsewhere'); // here it is an ordinary name
  await write('in/platform.yaml', 'applications: [{ name: a, type: { $file: "..\\\\secret" } }]');
  const { code, error } = await apply(join(home, 'in/platform.yaml'));
  expect([code, error]).toEqual([2, expect.stringContaining('must be a file below')]);
});
