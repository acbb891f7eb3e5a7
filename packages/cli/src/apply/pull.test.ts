import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { keys, kindOf, startService, type } from '../testing/test-command-line.ts';

interface Options {
  /** The largest page that is not refused. */
  mostSize?: number;
  /** Of the key. */
  permissions?: string[];
}

async function pull(
  closing: AsyncDisposableStack,
  existing: Record<string, object[]>,
  { mostSize = 100, permissions = ['reactor:read'] }: Options = {},
) {
  const service = await startService(closing, ({ url }) => {
    if (url === '/applications/key') return { status: 200, body: { id: 'caller', permissions } };
    if (Number(/size=(\d+)/.exec(url)?.[1]) > mostSize)
      return { status: 413, body: { status: 413, detail: 'Too large' } };
    const data = existing[kindOf(url)] ?? [];
    const pagination = { total_items: data.length, page_number: 1, page_size: 100, total_pages: 1 };
    return { status: 200, body: { pagination, data } };
  });
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  const file = join(home, 'platform.yaml');
  const env = { SLUICE_URL: service.url, SLUICE_API_KEY: keys.management };
  const pulled = await type(['pull', '-f', file], { env });
  const read = (name = 'platform.yaml') => readFile(join(home, name), 'utf8');
  return { ...pulled, read, home, seen: service.seen.map(({ url }) => url) };
}

const proxy = { id: 'p', name: 'a', destination_url: 'https://x.example/v1', require_auth: true };

test.each(['applications', 'proxies'])(
  'two %s of one name are no file that apply takes: nothing is written',
  async (kind) => {
    await using closing = new AsyncDisposableStack();
    const two = [
      { ...proxy, id: 'p1' },
      { ...proxy, id: 'p2' },
    ];
    const { code, error, read } = await pull(closing, { [kind]: two });
    expect([code, error]).toEqual([1, expect.stringMatching(/^Two or more \w+ are named a \(p1, p2\)\n.*rename/)]);
    await expect(read()).rejects.toThrow('ENOENT');
  },
);

test('a URL with a query, which may hold a key, becomes a reference', async () => {
  await using closing = new AsyncDisposableStack();
  const proxies = [
    { ...proxy, destination_url: 'https://x.example/v1?key=sk_live_1' },
    { ...proxy, id: 'q', name: 'b' },
  ];
  const { code, error, read } = await pull(closing, { proxies });
  expect([code, error]).toEqual([0, expect.stringContaining('--env A_DESTINATION_URL')]);
  const text = await read();
  expect(text).not.toContain('sk_live');
  expect(text).toContain('$env: A_DESTINATION_URL');
  expect(text).toContain('destination_url: https://x.example/v1\n');
});

test.each([10, 1])('where pages of more than %i items are too large, smaller ones are read', async (mostSize) => {
  await using closing = new AsyncDisposableStack();
  const { code, read } = await pull(closing, { proxies: [proxy] }, { mostSize });
  expect([code, await read()]).toEqual([0, expect.stringContaining('name: a')]);
});

test('variables have names that say something also where those of Proxies have no letter for them', async () => {
  await using closing = new AsyncDisposableStack();
  const proxies = [{ ...proxy, name: '支払', configuration: { 鍵: 'sk_live_1', 値: 'x', KEY: 'y' } }];
  const { error, read } = await pull(closing, { proxies });
  expect(error).toContain('--env VALUE --env VALUE_2 --env _KEY\n');
  expect(await read()).toContain('鍵:\n        $env: VALUE\n');
});

test('an empty Tenant is a file with empty lists', async () => {
  await using closing = new AsyncDisposableStack();
  const { code, error, read, home } = await pull(closing, {});
  expect([code, error]).toEqual([0, `Written: ${home}/platform.yaml\n`]);
  expect(await read()).toBe('applications: []\nproxies: []\nreactor_formulas: []\nreactors: []\n');
});

const formula = {
  id: 'f',
  type: 'private',
  name: 'BIN look-up',
  code: 'module.exports = async () => ({})',
  configuration: [{ name: 'KEY', type: 'string' }],
  request_parameters: [{ name: 'number', type: 'string', optional: false }],
  created_by: 'x',
};

test('reactors have code in files, names in place of ids, and references of their type in place of values', async () => {
  await using closing = new AsyncDisposableStack();
  const applications = [{ id: 'a', name: 'shop', type: 'private', permissions: ['token:use'] }];
  const reactors = [
    { id: 'r', name: 'fee', code: 'exports.default = 1', configuration: { PIN: 1234, LIVE: true, KEY: 'sk_live_1' } },
    {
      id: 's',
      name: 'bin',
      formula_id: 'f',
      application_id: 'a',
      configuration: { KEY: 'sk_live_2' },
      retryable: true,
    },
  ];
  const { code, error, read } = await pull(closing, { applications, reactor_formulas: [formula], reactors });
  expect([code, error]).toEqual([
    0,
    expect.stringContaining('--env BIN_KEY --env FEE_PIN --env FEE_LIVE --env FEE_KEY'),
  ]);
  const text = await read();
  expect(text).not.toMatch(/sk_live|1234|true\n\s+KEY/);
  expect(parse(text)).toMatchObject({
    reactor_formulas: [{ name: 'BIN look-up', code: { $file: 'reactor-formulas/bin-look-up.js' } }],
    reactors: [
      {
        name: 'bin',
        formula: { name: 'BIN look-up' },
        application: { name: 'shop' },
        configuration: { KEY: { $env: 'BIN_KEY' } },
        retryable: true,
      },
      {
        name: 'fee',
        code: { $file: 'reactors/fee.js' },
        configuration: {
          PIN: { $env: 'FEE_PIN', type: 'number' },
          LIVE: { $env: 'FEE_LIVE', type: 'boolean' },
          KEY: { $env: 'FEE_KEY' },
        },
      },
    ],
  });
  expect([await read('reactors/fee.js'), await read('reactor-formulas/bin-look-up.js')]).toEqual([
    'exports.default = 1',
    formula.code,
  ]);
});

test('a key that may not read reactors pulls the rest, and is told', async () => {
  await using closing = new AsyncDisposableStack();
  const { code, error, read, seen } = await pull(closing, { proxies: [proxy] }, { permissions: ['proxy:read'] });
  expect([code, error]).toEqual([0, expect.stringContaining('this key lacks reactor:read')]);
  expect(Object.keys(parse(await read()))).toEqual(['applications', 'proxies']);
  expect(seen.filter((url) => url.includes('reactor'))).toEqual([]);
});
