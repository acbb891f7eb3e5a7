import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Interrupted } from '../failure.ts';
import { keyStrokes, keys, startService, type } from '../testing/test-command-line.ts';

const { enter, interrupt, endOfInput, backspace } = keyStrokes;

async function setUp(closing: AsyncDisposableStack) {
  const pagination = { total_items: 0, page_number: 1, page_size: 20, total_pages: 0 };
  const service = await startService(closing, ({ method, url }) => {
    if (url === '/permissions') return { status: 200, body: [] };
    if (url === '/applications/key') return { status: 200, body: { id: 'a', tenant_id: 't' } };
    if (method === 'GET') return { status: 200, body: { pagination, data: [] } };
    return { status: 201, body: { id: 'new', key: 'new' } };
  });
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  const file = join(home, 'sluice/profiles.json');
  return {
    service,
    home,
    env: { XDG_CONFIG_HOME: home },
    stored: async () => JSON.parse(await readFile(file, 'utf8')),
  };
}

test('login asks for the URL and keys, and the screen shows no key, also not while it is corrected', async () => {
  await using closing = new AsyncDisposableStack();
  const { service, env, stored } = await setUp(closing);
  const turns = [
    ['URL: ', `${service.url}${enter}`],
    ['Key 1', `${keys.management}x${backspace}${enter}`],
    ['Key 2', `${keys.private}${enter}`],
    ['Key 3', enter],
  ] as const;
  const { code, screen } = await type(['login'], { env, turns });
  expect([code, screen]).toEqual([
    0,
    expect.stringContaining('Stored management and private key in the profile default'),
  ]);
  expect(screen).not.toMatch(/svc_|mmm|ppp/);
  expect((await stored()).default.keys).toEqual({ management: keys.management, private: keys.private });
});

test('keys that are pasted at once are all taken', async () => {
  await using closing = new AsyncDisposableStack();
  const { service, env, stored } = await setUp(closing);
  const pasted = `${keys.management}${enter}${keys.public}${enter}${enter}`;
  const { code, screen } = await type(['login', '--url', service.url], { env, turns: [['Key 1', pasted]] });
  expect(code).toBe(0);
  expect(screen).not.toMatch(/svc_|mmm|bbb/);
  expect((await stored()).default.keys).toEqual({ management: keys.management, public: keys.public });
});

test('Ctrl-D ends the keys', async () => {
  await using closing = new AsyncDisposableStack();
  const { service, env, stored } = await setUp(closing);
  const typed = ['login', '--url', service.url];
  const none = await type(typed, { env, turns: [['Key 1', endOfInput]] });
  expect([none.code, none.screen]).toEqual([2, expect.stringContaining('The key is missing')]);
  const turns = [
    ['Key 1', `${keys.public}${enter}`],
    ['Key 2', endOfInput],
  ] as const;
  expect((await type(typed, { env, turns })).code).toBe(0);
  expect((await stored()).default.keys).toEqual({ public: keys.public });
});

test.each([
  ['URL: ', []],
  ['Key 1', ['--url', 'https://sluice.example.com']],
])('Ctrl-C at %s leaves with 130, without a word', async (question, options) => {
  await using closing = new AsyncDisposableStack();
  const { env } = await setUp(closing);
  const { code, error } = await type(['login', ...options], { env, turns: [[question, interrupt]] });
  expect(code).toBe(130);
  expect(error.split('\n').slice(1)).toEqual(['']);
});

test.each([
  ['y', enter, 0, 1],
  ['YES', enter, 0, 1],
  ['n', enter, 1, 0],
  ['', enter, 1, 0],
  ['yesterday', enter, 1, 0],
  ['Ctrl-D', endOfInput, 1, 0],
  ['Ctrl-C', interrupt, 130, 0],
])('Apply? answered with %j leaves with its exit code', async (answer, end, expected, created) => {
  await using closing = new AsyncDisposableStack();
  const { service, home } = await setUp(closing);
  const file = join(home, 'p.yaml');
  await writeFile(file, 'proxies: [{ name: a, destination_url: https://example.com }]');
  const env = { SLUICE_URL: service.url, SLUICE_API_KEY: keys.management };
  const turns = [['Apply? [y/N] ', end === enter ? `${answer}${enter}` : end]] as const;
  const { code, screen, unasked } = await type(['apply', '-f', file], { env, turns });
  expect([code, unasked]).toEqual([expected, []]);
  expect(screen.indexOf('+ Proxy a')).toBeLessThan(screen.indexOf('Apply?'));
  if (expected < 2) expect(screen).toContain(created ? 'Created' : 'Nothing was done.');
  expect(service.seen.filter(({ method }) => method === 'POST')).toHaveLength(created);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends a command that waits for standard input, with %i', async (name, expected) => {
  const stopping = new AbortController();
  setImmediate(() => stopping.abort(new Interrupted(name)));
  const env = { SLUICE_URL: 'https://sluice.example.com', SLUICE_API_KEY: keys.private };
  const { code, screen } = await type(['tokens', 'create', '-d', '-'], { env, turns: [], signal: stopping.signal });
  expect([code, screen]).toEqual([expected, '']);
});
