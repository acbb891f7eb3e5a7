import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, openTemporaryFolder } from '@sluice/testing';
import { keys, startService, type } from '../testing/test-command-line.ts';
import { endOf, sessionKey, startRuns, toldBy, withoutKey } from '../testing/test-run.ts';

test.each(['https://github.com/acme/shop.git', 'git@github.com:acme/shop.git', 'ssh://git@github.com/acme/shop.git'])(
  'git asks the route for %s, with the key as its password',
  async (address) => {
    await using closing = new AsyncDisposableStack();
    const { asked, start } = await startRuns(closing);
    const { code } = await endOf(start(['git', 'ls-remote', address]));
    const requests = asked('GET /routes/github/acme/shop.git/info/refs?service=git-upload-pack');
    const basic = `Basic ${Buffer.from(`sluice:${sessionKey}`).toString('base64')}`;
    expect([code, requests.map(({ headers }) => headers.authorization)]).toEqual([128, [undefined, basic]]);
  },
);

test('no helper of the person stores the key that git was given', async () => {
  await using closing = new AsyncDisposableStack();
  const { start, home } = await startRuns(closing, {
    'GET /routes/github/acme/empty.git/info/refs': ({ authorization }) => {
      if (authorization === undefined) return withoutKey;
      const type = { 'content-type': 'application/x-git-upload-pack-advertisement' };
      return { status: 200, text: '001e# service=git-upload-pack\n00000000', headers: type };
    },
  });
  await writeFile(join(home, '.gitconfig'), '[credential]\n  helper = store\n');
  expect(await endOf(start(['git', 'ls-remote', 'https://github.com/acme/empty.git']))).toMatchObject({ code: 0 });
  expect(await readdir(home)).not.toContain('.git-credentials');
});

test('the session is made with the public key, authorized with the private key for these Proxies alone, and deleted', async () => {
  await using closing = new AsyncDisposableStack();
  const { asked, start } = await startRuns(closing);
  expect(await endOf(start(['true'], ['--for', '30m', '--quiet']))).toEqual({ code: 0, signal: null, stderr: '' });
  const keyOf = (path: string) => asked(path).map(({ headers }) => headers['svc-api-key']);
  expect([keyOf('POST /sessions'), keyOf('POST /sessions/authorize'), keyOf('DELETE /sessions/self')]).toEqual([
    [keys.public],
    [keys.private],
    [sessionKey],
  ]);
  const [authorized] = asked('POST /sessions/authorize');
  expect(JSON.parse(authorized?.body ?? '')).toEqual({
    nonce: 'n',
    proxies: ['p'],
    expires_at: expect.any(String),
    rules: [
      {
        priority: 1,
        transform: 'redact',
        permissions: ['token:use'],
        container: expect.stringMatching(/^\/agents\/\w+\/$/),
      },
    ],
  });
});

test('killed while the session is being authorized, it is ended once it is, although it was refused before', async () => {
  await using closing = new AsyncDisposableStack();
  let refusals = 0;
  const { asked, start } = await startRuns(closing, {
    'POST /sessions/authorize': () => {
      child.kill('SIGKILL');
      return undefined;
    },
    'DELETE /sessions/self': () => (++refusals < 3 ? { status: 401, body: { title: 'No' } } : { status: 204 }),
  });
  const child = start(['true']);
  expect(await endOf(child)).toMatchObject({ signal: 'SIGKILL' });
  await eventually('the session is ended', () => asked('DELETE /sessions/self').length === 3);
});

test('a service that is away does not change how the command ended', async () => {
  await using closing = new AsyncDisposableStack();
  const away = () => ({ status: 503, body: { title: 'Away' } });
  const { start } = await startRuns(closing, { 'DELETE /sessions/self': away, 'GET /logs': away });
  const { code, stderr } = await endOf(start(['sh', '-c', 'exit 9']));
  expect([code, stderr]).toEqual([9, expect.stringContaining('the session has not ended yet')]);
  expect(stderr).toContain('the calls cannot be shown');
});

test('a key that may not read the log is silent about calls', async () => {
  await using closing = new AsyncDisposableStack();
  const { start } = await startRuns(closing);
  const { code, stderr } = await endOf(start(['true']));
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('calls')]);
});

test('says at once that a short session has ended, while the command goes on', async () => {
  await using closing = new AsyncDisposableStack();
  const { start } = await startRuns(closing);
  const child = start(['sleep', '600'], ['--for', '1s']);
  const told = toldBy(child);
  await eventually('it says so', () => told().includes('the session has ended'));
  expect(told()).not.toContain('in a minute');
  child.kill('SIGTERM');
  expect(await endOf(child)).toMatchObject({ signal: 'SIGTERM' });
});

test('says a minute ahead that the session ends', async () => {
  await using closing = new AsyncDisposableStack();
  const { start } = await startRuns(closing);
  const child = start(['sleep', '600'], ['--for', '61s']);
  const told = toldBy(child);
  await eventually('it says so', () => told().includes('the session ends in a minute'));
  child.kill('SIGTERM');
  await endOf(child);
});

test.each<[string, string[], number, string]>([
  ['no command', ['--routes', 'github'], 2, 'must end with -- COMMAND'],
  ['a command without --', ['--routes', 'github', 'true'], 2, 'must end with -- COMMAND'],
  ['nothing behind --', ['--routes', 'github', '--'], 2, 'must end with -- COMMAND'],
  ['words before --', ['--routes', 'github', 'x', '--', 'true'], 2, 'too many arguments'],
  ['no route', ['--', 'true'], 2, '--routes is missing'],
  ['an unknown route', ['--routes', 'github,none', '--', 'true'], 2, 'There is no route none'],
  ['--env with another route', ['--routes', 'github', '--env', 'A=b:key', '--', 'true'], 2, 'does not have it'],
])('a mistake before anything is done: %s', async (_name, words, code, message) => {
  await using closing = new AsyncDisposableStack();
  const { env, asked } = await startRuns(closing);
  expect(await type(['run', ...words], { env })).toMatchObject({ code, error: expect.stringContaining(message) });
  expect(asked('POST /sessions')).toEqual([]);
});

test('a key in the environment is not mixed with those of a profile', async () => {
  await using closing = new AsyncDisposableStack();
  const { env, seen } = await startRuns(closing);
  seen.length = 0;
  const ours = { ...env, SLUICE_URL: 'http://127.0.0.1:1', SLUICE_API_KEY: keys.management };
  const { code, error } = await type(['run', '--routes', 'github', '--', 'true'], { env: ours });
  expect([code, error, seen]).toEqual([2, expect.stringContaining('--profile'), []]);
});

test('a profile without a public key says which key is missing', async () => {
  await using closing = new AsyncDisposableStack();
  const { url } = await startService(closing, () => ({ status: 200, body: [] }));
  const env = { XDG_CONFIG_HOME: await openTemporaryFolder(closing, 'run') };
  await type(['login', '--url', url], { env, stdin: `${keys.management}\n${keys.private}` });
  const { code, error } = await type(['run', '--routes', 'github', '--', 'true'], { env });
  expect([code, error]).toEqual([2, expect.stringContaining('has no public key')]);
});

test('options behind -- are those of the command, also --help', async () => {
  await using closing = new AsyncDisposableStack();
  const { start } = await startRuns(closing);
  expect(await endOf(start(['sh', '-c', 'test "$1" = --help && exit 8', 'x', '--help']))).toMatchObject({ code: 8 });
  const { out } = await type(['run', '--help']);
  expect(out).toContain('Usage: sluice run [options] -- COMMAND');
});
