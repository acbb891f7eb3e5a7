import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { eventually, programEnvironment, useChildren, useStack } from '@sluice/testing';
import { typeAtTerminal } from '../../../../packages/cli/src/testing/test-terminal.ts';
import { mainFile, openCommandLine, runSluice } from './open-command-line.ts';

/** `sluice run` as a process, at a platform. */
const world = useStack(async (closing) => {
  const { platform, destination, env, home } = await openCommandLine(closing);
  const page = await platform.createApplication({ type: 'public', permissions: ['token:create'] });
  await runSluice(['login'], { env, stdin: page.key });
  await platform.createProxy({
    ...{ destination_url: destination.url, path_name: 'api', accept_key_as: ['bearer'], token_places: [] },
    ...{ configuration: { KEY: 'theirs' }, request_headers: { Authorization: 'Bearer {{ config: KEY }}' } },
  });
  await platform.createProxy({ destination_url: destination.url, path_name: 'other', accept_key_as: ['bearer'] });
  const statusOf = async (key: string, route = 'api') =>
    (await platform.call('GET', `/routes/${route}/x`, { headers: { Authorization: `Bearer ${key}` } })).status;
  return { platform, destination, home, statusOf, env: { ...programEnvironment(), ...env } };
});

const isOver = useChildren();

interface Started {
  child: ChildProcess;
  /** Of standard output. */
  nextLine: () => Promise<string>;
  exited: Promise<unknown>;
  /** When nobody has its standard error open any more, the command included. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>;
}

/** In a group of processes of its own, as a shell starts it. */
function start(command: readonly string[], words: readonly string[] = ['--quiet'], more: object = {}): Started {
  const typed = [mainFile, 'run', '--routes', 'api', ...words, '--', ...command];
  const child = isOver(
    spawn(process.execPath, typed, { env: { ...world.current.env, ...more }, detached: true, stdio: 'pipe' }),
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const stderr = text(child.stderr);
  const exited = once(child, 'exit');
  const ended = exited.then(async ([code, signal]) => ({ code, signal, stderr: await stderr }));
  return { child, exited, ended, nextLine: async () => (await lines.next()).value ?? '' };
}

const shell = (script: string) => ['sh', '-c', script];
/** Tells its key and its id, and waits. */
const waiting = shell('echo "$API_API_KEY $$"; exec sleep 600');

async function startWaiting() {
  const started = start(waiting, []);
  const [key = '', id = ''] = (await started.nextLine()).split(' ');
  return { ...started, key, endCommand: () => process.kill(Number(id), 'SIGKILL') };
}

/** The watchdog of a run, by its parent. */
async function watchdogOf({ pid }: ChildProcess): Promise<number> {
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // A process that has ended meanwhile has no files.
    const [stat, line] = await Promise.all(
      ['stat', 'cmdline'].map((file) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '')),
    );
    if (Number(/\) \S (\d+)/.exec(stat ?? '')?.[1]) === pid && line?.includes('watchdog.process')) return Number(name);
  }
  throw new Error('There is no watchdog');
}

describe('the command', () => {
  test('calls its routes, as its clients would, and no others, until it has ended', async () => {
    const { platform, destination, statusOf } = world.current;
    const call = `process.stdin.resume(); fetch(process.env.API_BASE_URL + '/v1/models?a=1', { headers: { Authorization: 'Bearer ' + process.env.API_API_KEY } })
      .then(async (answer) => console.log(answer.status, process.env.API_API_KEY))`;
    const { child, nextLine, ended } = start([process.execPath, '-e', call], []);
    const [status, key = ''] = (await nextLine()).split(' ');
    await eventually('the log shows the call', async () => {
      const { body } = await platform.manage('GET', '/logs?entity_type=proxy&operation=use');
      return body.data.length > 0;
    });
    child.stdin?.end();
    const { code, stderr } = await ended;
    expect([status, code]).toEqual(['200', 0]);
    expect(destination.seen.at(-1)).toMatchObject({ path: '/v1/models?a=1', authorization: 'Bearer theirs' });
    await eventually('the key is refused', async () => (await statusOf(key)) === 401);
    expect(stderr).toContain('1 call:\nsluice run:   api GET 127.0.0.1');
    expect(stderr).toContain('could see the configuration of Proxies');
  });

  test('gets no variable of ours, and may call no other route', async () => {
    const { statusOf, home } = world.current;
    const print = [process.execPath, '-e', 'console.log(JSON.stringify(process.env)); process.stdin.resume()'];
    const ours = { SLUICE_PROFILE: 'default', SLUICE_ANYTHING: 'secret', THEIRS: 'stays', HOME: home };
    const words = ['--quiet', '--env', 'MINE=api:key', '--env', 'BASE=api:url'];
    const { child, nextLine, ended } = start(print, words, ours);
    const env = JSON.parse(await nextLine());
    expect(Object.keys(env).filter((name) => name.startsWith('SLUICE_'))).toEqual([]);
    expect(env).toMatchObject({ THEIRS: 'stays', MINE: env.API_API_KEY, BASE: env.API_BASE_URL });
    expect(env.API_API_KEY).toMatch(/^svc_local_ses_/);
    expect([await statusOf(env.API_API_KEY), await statusOf(env.API_API_KEY, 'other')]).toEqual([200, 403]);
    child.stdin?.end();
    expect(await ended).toEqual({ code: 0, signal: null, stderr: '' });
  });

  test.each<[string, string[], number | null, NodeJS.Signals | null]>([
    ['its exit code', shell('exit 7'), 7, null],
    ['its signal', ['bash', '-c', 'kill -TERM $$'], null, 'SIGTERM'],
    ['a signal that Node ignores', ['bash', '-c', 'kill -PIPE $$'], null, 'SIGPIPE'],
    ['a signal that nobody catches', ['bash', '-c', 'kill -KILL $$'], null, 'SIGKILL'],
    ['the code of a shell for a command that does not exist', ['there-is-no-such-command'], 127, null],
    ['the code of a shell for what is no program', ['/etc/passwd'], 126, null],
  ])('ends, and so does sluice run: %s', async (_name, command, code, signal) => {
    expect(await start(command).ended).toMatchObject({ code, signal });
  });

  test('reads our standard input and writes to our standard output, byte for byte', async () => {
    const { child } = start(['cat']);
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
    child.stdin?.end(bytes);
    const chunks: Buffer[] = [];
    child.stdout?.removeAllListeners('data').on('data', (chunk) => chunks.push(chunk));
    child.stdout?.resume();
    await once(child, 'close');
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  });
});

describe('signals', () => {
  test.each(['SIGTERM', 'SIGHUP'] as const)('%s is forwarded, and the command decides', async (signal) => {
    const name = signal.slice(3);
    const { child, nextLine, ended } = start(
      shell(`trap 'echo caught; exit 4' ${name}; echo ready; while :; do sleep 0.1; done`),
    );
    expect(await nextLine()).toBe('ready');
    child.kill(signal);
    expect(await nextLine()).toBe('caught');
    expect(await ended).toMatchObject({ code: 4, signal: null });
  });

  test('of a terminal reach the command with us, and it decides', async () => {
    const trapped = shell(
      `trap 'echo caught' INT QUIT; echo ready; while ! test -e "$END"; do sleep 0.1; done; exit 5`,
    );
    const end = join(world.current.home, 'end');
    const { child, nextLine, ended } = start(trapped, ['--quiet'], { END: end });
    expect(await nextLine()).toBe('ready');
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGINT'] as const) {
      process.kill(-(child.pid ?? 0), signal);
      expect(await nextLine()).toBe('caught');
    }
    await writeFile(end, '');
    expect(await ended).toMatchObject({ code: 5, signal: null });
  });

  test('Ctrl-C ends a command that does not catch it, and sluice run by the same signal', async () => {
    const { child, key, ended } = await startWaiting();
    process.kill(-(child.pid ?? 0), 'SIGINT');
    expect(await ended).toMatchObject({ code: null, signal: 'SIGINT' });
    await eventually('the key is refused', async () => (await world.current.statusOf(key)) === 401);
  });
});

describe('a terminal', () => {
  const interrupt = '\u0003';
  const suspend = '\u001a';

  test('is the terminal of the command: Ctrl-C is the command’s, and its own exit code counts', async () => {
    const { env } = world.current;
    const script = `test -t 0 && test -t 1 && trap 'echo caught; exit 6' INT; echo ready; while :; do sleep 0.1; done`;
    const typed = ['run', '--routes', 'api', '--quiet', '--', ...shell(script)];
    const { code, screen } = await typeAtTerminal(typed, [['ready', interrupt]], {
      // As `exec` does it, which Debian's sh does not.
      env: { ...env, SHELL: '/bin/bash' },
    });
    expect([code, screen]).toEqual([6, expect.stringContaining('caught')]);
  });

  test('Ctrl-Z stops both and fg goes on with both', async () => {
    const { env } = world.current;
    const line = `'${process.execPath}' '${mainFile}' run --routes api --quiet -- sh -c 'echo be""gun; cat'\r`;
    const turns = [
      ['$ ', line],
      ['begun', suspend],
      ['Stopped', 'fg\r'],
      ['sh -c', 'typed later\r'],
      ['typed later\r\ntyped later', interrupt],
      ['$ ', 'echo "code $?"; exit 0\r'],
    ] as const;
    const bash = ['bash', '--norc', '--noprofile', '-i'];
    const { screen, unasked } = await typeAtTerminal([], turns, { env: { ...env, PS1: '$ ' }, command: bash });
    expect([unasked, screen]).toEqual([[], expect.stringContaining('code 130')]);
  });
});

describe('a command that stops nobody but itself', () => {
  test('gives the prompt back, and goes on by fg', async () => {
    const { env } = world.current;
    const line = `'${process.execPath}' '${mainFile}' run --routes api --quiet -- sh -c 'kill -STOP $$; echo went on; exit 3'\r`;
    const turns = [
      ['$ ', line],
      ['Stopped', 'fg\r'],
      ['\nwent on', 'echo "code $?"; exit 0\r'],
    ] as const;
    const bash = ['bash', '--norc', '--noprofile', '-i'];
    const { screen, unasked } = await typeAtTerminal([], turns, { env: { ...env, PS1: '$ ' }, command: bash });
    expect([unasked, screen]).toEqual([[], expect.stringContaining('code 3')]);
  });
});

describe('the watchdog', () => {
  test('ends the session of a sluice run that is killed; without it the key would stay', async () => {
    const { statusOf } = world.current;
    const [guarded, unguarded] = [await startWaiting(), await startWaiting()];
    process.kill(await watchdogOf(unguarded.child), 'SIGKILL');
    for (const { key } of [guarded, unguarded]) expect(await statusOf(key)).toBe(200);
    for (const { child, exited } of [guarded, unguarded]) {
      child.kill('SIGKILL');
      await exited;
    }
    await eventually('the key is refused', async () => (await statusOf(guarded.key)) === 401);
    expect(await statusOf(unguarded.key)).toBe(200);
    for (const { endCommand } of [guarded, unguarded]) endCommand();
    expect((await unguarded.ended).stderr).toContain('the watchdog was ended');
  });

  test('is ended by no signal to its group or its id but SIGKILL', async () => {
    const { statusOf } = world.current;
    const { child, key, endCommand } = await startWaiting();
    const watchdog = await watchdogOf(child);
    for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) {
      process.kill(watchdog, signal);
      process.kill(-watchdog, signal);
    }
    child.kill('SIGKILL');
    await eventually('the key is refused', async () => (await statusOf(key)) === 401);
    endCommand();
  });

  test('has the key neither in its environment nor in its arguments', async () => {
    const { child, key, endCommand, ended } = await startWaiting();
    const watchdog = await watchdogOf(child);
    for (const file of ['environ', 'cmdline']) {
      const read = await readFile(`/proc/${watchdog}/${file}`, 'utf8');
      expect(read.length).toBeGreaterThan(0);
      expect(read).not.toContain(key);
      expect(read).not.toContain('SLUICE_');
    }
    endCommand();
    await ended;
  });

  test('a killed one is replaced at the end by sluice run itself', async () => {
    const { child, key, endCommand, ended } = await startWaiting();
    process.kill(await watchdogOf(child), 'SIGKILL');
    endCommand();
    await ended;
    await eventually('the key is refused', async () => (await world.current.statusOf(key)) === 401);
  });
});
