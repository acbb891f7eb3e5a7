import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keys, kindOf, startService, type } from '../testing/test-command-line.ts';

async function setUp(closing: AsyncDisposableStack, file: string, existing: Record<string, object[]> = {}) {
  const service = await startService(closing, ({ method, url, body }) => {
    if (url === '/applications/key') return { status: 200, body: { id: 'caller', tenant_id: 'tenant' } };
    if (method === 'POST') return { status: 201, body: { id: `of ${JSON.parse(body).name}` } };
    if (method !== 'GET') return { status: 200, body: {} };
    const data = existing[kindOf(url)] ?? [];
    return { status: 200, body: { pagination: { total_items: data.length, page_number: 1, page_size: 100 }, data } };
  });
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  const path = join(home, 'platform.yaml');
  await writeFile(path, file);
  await mkdir(join(home, 'reactors'));
  await writeFile(join(home, 'reactors/bin.js'), code);
  const own = { SLUICE_URL: service.url, SLUICE_API_KEY: keys.management };
  const env = { ...own, BIN_KEY: 'sk_live_1', RETRIES: '5', LIVE: 'true' };
  const run = (command: string, ...more: string[]) =>
    type([command, '-f', path, '--env', 'BIN_KEY', '--env', 'RETRIES', '--env', 'LIVE', ...more], { env });
  const changes = () =>
    service.seen
      .filter(({ method }) => method !== 'GET')
      .map(({ method, url, body }) => [`${method} ${url}`, body === '' ? undefined : JSON.parse(body)]);
  return { path, run, changes, asked: () => service.seen.map(({ url }) => url) };
}

const code = 'module.exports = async () => ({ raw: 1 })';
const file = `
applications: [{ name: shop, type: private, permissions: [token:use] }]
reactor_formulas:
  - name: bin
    code: { $file: reactors/bin.js }
    configuration: [{ name: KEY, type: string }, { name: RETRIES, type: number }]
    request_parameters: [{ name: number, type: string }]
reactors:
  - { name: own, code: { $file: reactors/bin.js }, configuration: { LIVE: { $env: LIVE, type: boolean } } }
  - name: bin
    formula: { name: bin }
    application: { name: shop }
    configuration: { KEY: { $env: BIN_KEY }, RETRIES: { $env: RETRIES } }
`;

const existing = {
  applications: [{ id: 'a', name: 'shop', type: 'private', permissions: ['token:use'], rules: [] }],
  reactor_formulas: [
    {
      ...{ id: 'f', type: 'private', name: 'bin', code },
      configuration: [
        { name: 'KEY', type: 'string' },
        { name: 'RETRIES', type: 'number' },
      ],
      request_parameters: [{ name: 'number', type: 'string', optional: false }],
    },
  ],
  reactors: [
    { id: 'o', name: 'own', code, configuration: { LIVE: true }, retryable: false },
    {
      ...{ id: 'r', name: 'bin', formula_id: 'f', application_id: 'a', retryable: false },
      configuration: { KEY: 'sk_live_1', RETRIES: 5 },
    },
  ],
};

test('formulas are made before the reactors that name them, with code from files and values of their type', async () => {
  await using closing = new AsyncDisposableStack();
  const { run, changes } = await setUp(closing, file);
  const { code: exit, screen } = await run('apply', '--yes');
  expect([exit, screen]).toEqual([0, expect.stringContaining('+ reactor formula bin\n+ reactor own\n+ reactor bin')]);
  expect(screen).not.toContain('sk_live');
  expect(changes()).toEqual([
    ['POST /applications', expect.anything()],
    ['POST /reactor-formulas', expect.objectContaining({ name: 'bin', code })],
    ['POST /reactors', { name: 'own', code, configuration: { LIVE: true } }],
    [
      'POST /reactors',
      {
        name: 'bin',
        formula: { id: 'of bin' },
        application: { id: 'of shop' },
        configuration: { KEY: 'sk_live_1', RETRIES: '5' },
      },
    ],
  ]);
});

test('what is as the file says stays, although a formula has cast its configuration', async () => {
  await using closing = new AsyncDisposableStack();
  const { run } = await setUp(closing, file, existing);
  expect((await run('diff')).out).toContain('4 unchanged');
  expect((await run('diff')).out).not.toMatch(/^[+~?]/m);
});

test('a change is shown by the names of its members, and none of the values', async () => {
  await using closing = new AsyncDisposableStack();
  const [own, bin] = existing.reactors;
  const reactors = [
    { ...own, code: 'other', retryable: true },
    { ...bin, formula_id: undefined, code, configuration: { KEY: 'sk_live_0', OLD: 'x' } },
  ];
  const { run, changes } = await setUp(closing, file, { ...existing, reactors });
  const { screen } = await run('diff');
  expect(screen).toContain('~ reactor own\n    code\n    retryable: true -> false\n');
  expect(screen).toContain(
    '~ reactor bin\n    code: removed\n    configuration.KEY\n    configuration.OLD: removed\n    configuration.RETRIES\n    formula\n',
  );
  expect(screen).not.toContain('sk_live');
  await run('apply', '--yes');
  expect(changes().map(([asked]) => asked)).toEqual(['PUT /reactors/o', 'PUT /reactors/r']);
});

test('what the file no longer has is pruned, reactors before their formula', async () => {
  await using closing = new AsyncDisposableStack();
  const { path, run, changes } = await setUp(closing, '{}', existing);
  const made = { reactor_formulas: { bin: 'f' }, reactors: { bin: 'r' } };
  await writeFile(`${path}.applied.json`, JSON.stringify({ tenant: made }));
  await run('apply', '--yes', '--prune');
  expect(changes().map(([asked]) => asked)).toEqual(['DELETE /reactors/r', 'DELETE /reactor-formulas/f']);
});

test('a file without reactors needs no permission to read them', async () => {
  await using closing = new AsyncDisposableStack();
  const { run, asked } = await setUp(closing, 'proxies: []', existing);
  expect((await run('diff')).code).toBe(0);
  expect(asked().filter((url) => url.includes('reactor'))).toEqual([]);
});

test.each([
  ['neither code nor formula', '{ name: a }', 'reactor a: code or formula is required'],
  ['both', '{ name: a, code: x, formula: { name: b } }', 'reactor a: code or formula is required'],
  [
    'a formula that nobody has',
    '{ name: a, formula: { name: b } }',
    'refers to the reactor formula b, which does not exist',
  ],
  [
    'a value of another type',
    '{ name: a, code: x, configuration: { A: [1] } }',
    'configuration.A must be text or a number',
  ],
  [
    'a number that is none',
    '{ name: a, code: x, configuration: { A: { $env: BIN_KEY, type: number } } }',
    'the value of BIN_KEY is not a number',
  ],
  [
    'an unknown type',
    '{ name: a, code: x, configuration: { A: { $env: BIN_KEY, type: date } } }',
    'must be string, number',
  ],
  [
    'its name from a variable',
    '{ name: a, formula: { name: { $env: BIN_KEY } } }',
    'a name must not come from $env or $file',
  ],
])('%s is a mistake in the file', async (_, reactor, message) => {
  await using closing = new AsyncDisposableStack();
  const { run, changes } = await setUp(closing, `reactors: [${reactor}]`);
  const { code: exit, error, screen } = await run('apply', '--yes');
  expect([exit, error, changes()]).toEqual([2, expect.stringContaining(message), []]);
  expect(screen).not.toContain('sk_live');
});
