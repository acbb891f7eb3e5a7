import { mkdtemp, rm } from 'node:fs/promises';
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
  expect([code, error]).toEqual([2, expect.stringContaining('whose keys go nowhere else')]);
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
