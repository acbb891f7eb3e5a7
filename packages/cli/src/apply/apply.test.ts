import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keys, startService, type } from '../command-line-for-tests.ts';

type Resource = { id: string; name: string } & Record<string, unknown>;

async function setUp(
  closing: AsyncDisposableStack,
  file: string,
  existing: { applications?: Resource[]; proxies?: Resource[] } = {},
) {
  const service = await startService(closing, ({ method, url, body }) => {
    if (url === '/applications/key') return { status: 200, body: { id: 'caller', tenant_id: 'tenant' } };
    if (method === 'POST') return { status: 201, body: { id: `of ${JSON.parse(body).name}`, key: 'k' } };
    if (method !== 'GET') return { status: 200, body: {} };
    const data = existing[url.startsWith('/proxies') ? 'proxies' : 'applications'] ?? [];
    const pagination = { total_items: data.length, page_number: 1, page_size: 100, total_pages: 1 };
    return { status: 200, body: { pagination, data } };
  });
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  const path = join(home, 'platform.yaml');
  await writeFile(path, file);
  const env = { SLUICE_URL: service.url, SLUICE_API_KEY: keys.management, DEST: 'https://x.example/?key=sk_live_1' };
  const run = (command: string, ...more: string[]) =>
    type([command, '-f', path, ...more], { env, isTerminal: !more.includes('--json') });
  return { service, path, home, run };
}

const proxy = { id: 'p', name: 'a', destination_url: 'https://x.example/?key=sk_live_0', require_auth: true };

test.each(['{ $env: DEST }', '{ $file: dest }'])(
  'the plan shows neither what %s holds nor what it replaces',
  async (reference) => {
    await using closing = new AsyncDisposableStack();
    const file = `proxies: [{ name: a, destination_url: ${reference}, require_auth: false }]`;
    const { home, run } = await setUp(closing, file, { proxies: [proxy] });
    await writeFile(join(home, 'dest'), 'https://x.example/?key=sk_live_1');
    for (const format of [[], ['--json']]) {
      const { code, screen } = await run('diff', '--env', 'DEST', ...format);
      expect([code, screen]).toEqual([0, expect.stringContaining('destination_url')]);
      expect(screen).toContain('require_auth: true -> false');
      expect(screen).not.toContain('sk_live');
    }
  },
);

test.each([
  ['of the file', 'https://x.example/', 'https://u:sk_live_1@x.example/'],
  ['of the service', 'https://x.example/?key=sk_live_0', 'https://x.example/'],
])('a URL %s that may hold a key is not shown', async (_, current, wanted) => {
  await using closing = new AsyncDisposableStack();
  const file = `proxies: [{ name: a, destination_url: "${wanted}" }]`;
  const { run } = await setUp(closing, file, { proxies: [{ ...proxy, destination_url: current }] });
  const { screen } = await run('diff');
  expect(screen).toContain('~ Proxy a\n    destination_url\n');
  expect(screen).not.toContain('sk_live');
});

test('permissions of which one is a reference are not shown either', async () => {
  await using closing = new AsyncDisposableStack();
  const file = 'applications: [{ name: a, type: private, permissions: [{ $env: DEST }] }]';
  const existing = { applications: [{ id: 'a', name: 'a', type: 'private', permissions: ['token:use'] }] };
  const { screen } = await (await setUp(closing, file, existing)).run('diff', '--env', 'DEST');
  expect(screen).toContain('~ Application a\n    permissions\n');
  expect(screen).not.toContain('sk_live');
});

test.each([
  ['a name', '{ $env: DEST }', 'x'],
  ['the name of an Application', 'a', '{ $env: DEST }'],
])('%s stands in the file itself, since the plan shows it', async (_name, name, application) => {
  await using closing = new AsyncDisposableStack();
  const { run } = await setUp(closing, `proxies: [{ name: ${name}, application: { name: ${application} } }]`);
  const { code, screen } = await run('diff', '--env', 'DEST');
  expect([code, screen]).toEqual([2, expect.stringMatching(/^proxies\[0\].*name must stand in the file itself/)]);
  expect(screen).not.toContain('sk_live');
});

test.each([
  'applications: &a [*a]',
  'applications: &a [*a, *a]',
  'proxies: [&a { name: a, configuration: { b: *a } }]',
])('an alias that leads to itself is a mistake in the file: %s', async (file) => {
  await using closing = new AsyncDisposableStack();
  const { code, error } = await (await setUp(closing, file)).run('diff');
  expect([code, error]).toEqual([2, expect.stringMatching(/^\S+ has an alias that leads to itself\n$/)]);
});

test('a value that two members share by an alias is no mistake', async () => {
  await using closing = new AsyncDisposableStack();
  const file = 'proxies: [{ name: a, configuration: &c { x: y } }, { name: b, configuration: *c }]';
  expect((await (await setUp(closing, file)).run('diff')).out).toBe('+ Proxy a\n+ Proxy b\n0 unchanged\n');
});

test('what nests too deep to be read is a mistake in the file', async () => {
  await using closing = new AsyncDisposableStack();
  const { run } = await setUp(closing, `proxies: ${'['.repeat(20_000)}${']'.repeat(20_000)}`);
  const { code, error } = await run('diff');
  expect([code, error]).toEqual([2, expect.stringMatching(/line 1 \(resource exhaustion\)\n$/)]);
});

test('Proxies find the Applications that they name in one list, those of the same apply included', async () => {
  await using closing = new AsyncDisposableStack();
  const file = `applications: [{ name: new, type: private }]
proxies: [{ name: a, application: { name: old } }, { name: b, application: { name: new } }, { name: c }]`;
  const applications = [{ id: 'of old', name: 'old', type: 'private' }];
  const { service, run } = await setUp(closing, file, { applications });
  expect((await run('apply', '--yes')).code).toBe(0);
  const made = service.seen.filter(({ method, url }) => method === 'POST' && url === '/proxies');
  expect(made.map(({ body }) => JSON.parse(body).application)).toEqual([{ id: 'of old' }, { id: 'of new' }, undefined]);
  expect(service.seen.filter(({ url }) => url.startsWith('/applications?'))).toHaveLength(1);
});

test('what is named like a member of every object is recorded as made, and pruned', async () => {
  await using closing = new AsyncDisposableStack();
  const { path, run } = await setUp(closing, 'proxies: [{ name: __proto__ }, { name: constructor }]', {
    proxies: [{ ...proxy, id: 'of __proto__', name: '__proto__' }],
  });
  await writeFile(`${path}.applied.json`, '{"tenant":{"proxies":{"__proto__":"of __proto__"}}}');
  expect((await run('apply', '--yes')).out).toContain('+ Proxy constructor');
  expect(JSON.parse(await readFile(`${path}.applied.json`, 'utf8')).tenant.proxies).toEqual(
    JSON.parse('{"__proto__":"of __proto__","constructor":"of constructor"}'),
  );
  await writeFile(path, '{}');
  expect((await run('diff', '--prune')).out).toContain('- Proxy __proto__');
});

test('each step is told as it is done on a terminal, and elsewhere the plan alone', async () => {
  await using closing = new AsyncDisposableStack();
  const { run } = await setUp(closing, 'proxies: [{ name: a }, { name: b }]');
  expect((await run('apply', '--yes')).error).toBe('1/2 Created Proxy a\n2/2 Created Proxy b\n');
  const elsewhere = await run('apply', '--yes', '--json');
  expect([elsewhere.error, JSON.parse(elsewhere.out).plan.length]).toEqual(['', 2]);
});

test('an Application whose permissions differ is replaced', async () => {
  await using closing = new AsyncDisposableStack();
  const file = 'applications: [{ name: a, type: private, permissions: [token:use, token:read] }]';
  const existing = { applications: [{ id: 'i', name: 'a', type: 'private', permissions: ['token:use'], rules: [] }] };
  const { service, run } = await setUp(closing, file, existing);
  const { out, error } = await run('apply', '--yes');
  expect(out).toBe('~ Application a\n    permissions: ["token:use"] -> ["token:read","token:use"]\n0 unchanged\n');
  expect(error).toBe('1/1 Changed Application a\n');
  const put = service.seen.find(({ method }) => method === 'PUT');
  expect(put?.url).toBe('/applications/i');
  expect(JSON.parse(put?.body ?? '')).toMatchObject({ name: 'a', permissions: ['token:use', 'token:read'] });
});
