import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@sluice/testing';
import { endOf, startRuns, toldBy } from '../testing/test-run.ts';

/** Kills the watchdog of a `sluice run` whose command does not run, and returns when `sluice run` has heard of it. */
function killWatchdog({ pid }: ChildProcess): void {
  const watchdog = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  process.kill(watchdog, 'SIGKILL');
  while (existsSync(`/proc/${watchdog}`));
}

test.each<[string, string[], number, string]>([
  ['no name', [''], 127, 'was not found'],
  ['a file in a file', ['/etc/passwd/x'], 126, 'could not be started (ENOTDIR)'],
])(
  'a command that cannot be started ends like that of a shell, with its session: %s',
  async (_name, command, code, message) => {
    await using closing = new AsyncDisposableStack();
    const { asked, start } = await startRuns(closing);
    const ended = await endOf(start(command));
    expect(ended).toEqual({ code, signal: null, stderr: expect.stringContaining(message) });
    expect(ended.stderr).not.toContain('run-command');
    expect(asked('DELETE /sessions/self')).toHaveLength(1);
  },
);

test('without a watchdog, a command that is not found still ends its session', async () => {
  await using closing = new AsyncDisposableStack();
  const { asked, start } = await startRuns(closing, {
    'DELETE /sessions/self': () => {
      if (asked('DELETE /sessions/self').length > 1) return { status: 204 };
      killWatchdog(child);
      return undefined;
    },
  });
  const child = start(['there-is-no-such-command']);
  expect(await endOf(child)).toMatchObject({ code: 127 });
  expect(asked('DELETE /sessions/self')).toHaveLength(2);
});

test('a command that is not found says if its session has not ended', async () => {
  await using closing = new AsyncDisposableStack();
  const { start } = await startRuns(closing, {
    'DELETE /sessions/self': () => ({ status: 503, body: { title: 'Away' } }),
  });
  const { code, stderr } = await endOf(start(['there-is-no-such-command']));
  expect([code, stderr]).toEqual([127, expect.stringContaining('the session has not ended yet')]);
});

test('a watchdog that is lost while the session is authorized lets nothing run, and the session is ended', async () => {
  await using closing = new AsyncDisposableStack();
  const { asked, start } = await startRuns(closing, {
    'POST /sessions/authorize': () => {
      killWatchdog(child);
      return { status: 200 };
    },
  });
  const child = start(['sh', '-c', 'echo it runs >&2']);
  const { code, stderr } = await endOf(child);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('The command was not run, because the watchdog was ended'),
  ]);
  expect(stderr).not.toContain('it runs');
  expect(asked('DELETE /sessions/self')).toHaveLength(1);
});

test('a log that does not answer ends the waiting for it', async () => {
  await using closing = new AsyncDisposableStack();
  const { start } = await startRuns(closing, { 'GET /logs': () => undefined });
  const { code, stderr } = await endOf(start(['sh', '-c', 'exit 9']));
  expect([code, stderr]).toEqual([9, expect.stringContaining('the log did not answer within 10 s')]);
});

test('an end on another day is told with its date', async () => {
  await using closing = new AsyncDisposableStack();
  const { asked, start } = await startRuns(closing);
  const { stderr } = await endOf(start(['true'], ['--for', '24h'], { LC_ALL: 'en_US.UTF-8', TZ: 'UTC' }));
  const [authorized] = asked('POST /sessions/authorize');
  const date = new Date(JSON.parse(authorized?.body ?? '').expires_at);
  const day = date.toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' });
  expect(stderr).toContain(`at the latest until ${day}`);
});

test.each(['SIGUSR1', 'SIGUSR2'] as const)('%s is for the command, and opens no inspector', async (signal) => {
  await using closing = new AsyncDisposableStack();
  const { start } = await startRuns(closing);
  const trap = `trap 'echo caught >&2; exit 4' ${signal.slice(3)}`;
  const child = start(['sh', '-c', `${trap}; echo begun >&2; while :; do sleep 0.1; done`]);
  const told = toldBy(child);
  await eventually('the command runs', () => told().includes('begun'));
  child.kill(signal);
  expect(await once(child, 'exit')).toEqual([4, null]);
  await eventually('the command caught it', () => told().includes('caught'));
  expect(told()).not.toContain('Debugger');
});

/** As the system answers for a command of another user, such as sudo. */
const notPermitted = `import { ChildProcess } from 'node:child_process';
ChildProcess.prototype.kill = function () {
  this.emit('error', Object.assign(new Error('kill EPERM'), { code: 'EPERM', syscall: 'kill' }));
  return false;
};`;

test('a command that may not be signalled goes on, and so does its session', async () => {
  await using closing = new AsyncDisposableStack();
  const { asked, start, home } = await startRuns(closing);
  const end = join(home, 'end');
  const command = ['sh', '-c', `echo begun >&2; while ! test -e '${end}'; do sleep 0.1; done; exit 6`];
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(notPermitted)}`;
  const child = start(command, [], { NODE_OPTIONS });
  const told = toldBy(child);
  await eventually('the command runs', () => told().includes('begun'));
  for (const [index, signal] of (['SIGTERM', 'SIGHUP', 'SIGTERM'] as const).entries()) {
    child.kill(signal);
    await eventually('it says so', () => told().split('could not be passed on').length === index + 2);
  }
  expect(asked('DELETE /sessions/self')).toEqual([]);
  await writeFile(end, '');
  expect(await once(child, 'close')).toEqual([6, null]);
  expect(asked('DELETE /sessions/self')).toHaveLength(1);
});
