import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keys, startService, type } from '../testing/test-command-line.ts';

interface Existing {
  applications?: object[];
  proxies?: object[];
  /** The largest page that is not refused. */
  mostSize?: number;
}

async function pull(closing: AsyncDisposableStack, { mostSize = 100, ...existing }: Existing) {
  const service = await startService(closing, ({ url }) => {
    if (Number(/size=(\d+)/.exec(url)?.[1]) > mostSize)
      return { status: 413, body: { status: 413, detail: 'Too large' } };
    const data = existing[url.startsWith('/proxies') ? 'proxies' : 'applications'] ?? [];
    const pagination = { total_items: data.length, page_number: 1, page_size: 100, total_pages: 1 };
    return { status: 200, body: { pagination, data } };
  });
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  const file = join(home, 'platform.yaml');
  const env = { SLUICE_URL: service.url, SLUICE_API_KEY: keys.management };
  const pulled = await type(['pull', '-f', file], { env });
  return { ...pulled, read: () => readFile(file, 'utf8'), home };
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
  const { code, read } = await pull(closing, { proxies: [proxy], mostSize });
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
  expect(await read()).toBe('applications: []\nproxies: []\n');
});
