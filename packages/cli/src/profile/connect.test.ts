import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keys, startService, type } from '../testing/test-command-line.ts';

const staging = keys.management.replace(/m{49}$/, 's'.repeat(49));

async function setUp(closing: AsyncDisposableStack) {
  const [environments, profiles] = await Promise.all([
    startService(closing, () => ({ status: 200, body: [] })),
    startService(closing, () => ({ status: 200, body: [] })),
  ]);
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  const XDG_CONFIG_HOME = home;
  await type(['login', '--profile', 'staging', '--url', profiles.url], { env: { XDG_CONFIG_HOME }, stdin: staging });
  profiles.seen.length = 0;
  const both = { XDG_CONFIG_HOME, SLUICE_URL: environments.url, SLUICE_API_KEY: keys.management };
  return { environments, profiles, XDG_CONFIG_HOME, both };
}

const keysOf = ({ seen }: { seen: { headers: Record<string, unknown> }[] }) =>
  seen.map(({ headers }) => headers['svc-api-key']);

test('--profile goes to the profile, with its key, also where the environment has another', async () => {
  await using closing = new AsyncDisposableStack();
  const { environments, profiles, both } = await setUp(closing);
  expect((await type(['permissions', 'list', '--profile', 'staging'], { env: both })).code).toBe(0);
  expect([keysOf(environments), keysOf(profiles)]).toEqual([[], [staging]]);
});

test('a login again to a profile sends its keys to its own URL', async () => {
  await using closing = new AsyncDisposableStack();
  const { environments, profiles, both } = await setUp(closing);
  expect((await type(['login', '--profile', 'staging'], { env: both, stdin: staging })).code).toBe(0);
  expect([keysOf(environments), keysOf(profiles)]).toEqual([[], [staging]]);
});

test('the key of the environment goes before a profile that the environment names', async () => {
  await using closing = new AsyncDisposableStack();
  const { environments, profiles, both } = await setUp(closing);
  await type(['permissions', 'list'], { env: { ...both, SLUICE_PROFILE: 'staging' } });
  expect([keysOf(environments), keysOf(profiles)]).toEqual([[keys.management], []]);
});

test("a profile's key does not go to another SLUICE_URL", async () => {
  await using closing = new AsyncDisposableStack();
  const { environments, profiles, XDG_CONFIG_HOME } = await setUp(closing);
  const env = { XDG_CONFIG_HOME, SLUICE_URL: environments.url };
  const { code, error } = await type(['permissions', 'list', '--profile', 'staging'], { env });
  expect([code, error]).toEqual([2, expect.stringContaining('are sent only to the URL of the profile')]);
  expect([...keysOf(environments), ...keysOf(profiles)]).toEqual([]);
});

test.each(['__proto__', 'constructor', 'toString'])('there is no profile %s before there is one', async (name) => {
  await using closing = new AsyncDisposableStack();
  const { profiles, XDG_CONFIG_HOME } = await setUp(closing);
  const env = { XDG_CONFIG_HOME };
  for (const command of [['permissions', 'list'], ['logout']]) {
    const { code, error } = await type([...command, '--profile', name], { env });
    expect([code, error]).toEqual([2, expect.stringContaining(`There is no profile ${name}`)]);
  }
  const login = await type(['login', '--profile', name, '--url', profiles.url], { env, stdin: staging });
  expect(login.code).toBe(0);
  expect((await type(['permissions', 'list', '--profile', name], { env })).code).toBe(0);
  expect((await type(['profiles', '--json'], { env })).out).toContain(`"name": "${name}"`);
});

test('keys are in a file that only its owner reads; one that others may read is refused', async () => {
  await using closing = new AsyncDisposableStack();
  const { XDG_CONFIG_HOME } = await setUp(closing);
  const file = join(XDG_CONFIG_HOME, 'sluice/profiles.json');
  expect(await readFile(file, 'utf8')).toContain(staging);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await chmod(file, 0o640);
  const { code, error } = await type(['permissions', 'list', '--profile', 'staging'], { env: { XDG_CONFIG_HOME } });
  expect([code, error]).toEqual([2, expect.stringContaining(`chmod 600 ${file}`)]);
});

test('a profile of a file that others may read is deleted all the same, and then only its owner reads it', async () => {
  await using closing = new AsyncDisposableStack();
  const { XDG_CONFIG_HOME } = await setUp(closing);
  const file = join(XDG_CONFIG_HOME, 'sluice/profiles.json');
  await chmod(file, 0o644);
  const { code } = await type(['logout', '--profile', 'staging'], { env: { XDG_CONFIG_HOME } });
  expect([code, await readFile(file, 'utf8')]).toEqual([0, '{}\n']);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test.each([
  [keys.private, 1, 'status 401'],
  ['4242424242424242', 2, 'Line 1 is not an API key of an Application'],
  ['', 2, 'The key is missing'],
])('a key that the service refuses, or that is none, is not stored: %s', async (stdin, expected, message) => {
  await using closing = new AsyncDisposableStack();
  const { url } = await startService(closing, () => ({ status: 401, body: { status: 401, detail: 'No' } }));
  const { XDG_CONFIG_HOME } = await setUp(closing);
  const env = { XDG_CONFIG_HOME: join(XDG_CONFIG_HOME, 'other') };
  const { code, screen } = await type(['login', '--url', url], { env, stdin });
  expect([code, screen]).toEqual([expected, expect.stringContaining(message)]);
  expect(screen).not.toMatch(/42424242|svc_/);
  expect((await type(['profiles', '--json'], { env })).out).toBe('[]\n');
});

test.each(['http://sluice.example.com', 'http://10.0.0.1:8080', 'ftp://localhost', 'https://a:b@localhost', 'x'])(
  'a key is not sent to %s',
  async (SLUICE_URL) => {
    const { code, screen } = await type(['proxies', 'list'], { env: { SLUICE_URL, SLUICE_API_KEY: keys.management } });
    expect([code, screen]).toEqual([2, expect.stringContaining('The URL must')]);
    expect(screen).not.toMatch(/svc_|a:b/);
  },
);
