import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { freeze } from './frozen.ts';

/** `T` is stopped; proc(5). */
const stateOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.[0];

async function withSleeper(act: (pid: number) => Promise<void>): Promise<void> {
  const sleeper: ChildProcess = spawn('sleep', ['60'], { stdio: 'ignore' });
  await once(sleeper, 'spawn');
  try {
    await act(sleeper.pid ?? 0);
  } finally {
    sleeper.kill('SIGKILL');
  }
}

test('frozen processes stand still until they are thawed, and those that are gone are left out', () =>
  withSleeper((first) =>
    withSleeper(async (second) => {
      const frozen = await freeze(first, 2 ** 22 + 1, second);
      expect([stateOf(first), stateOf(second)]).toEqual(['T', 'T']);
      await frozen.thaw();
      await frozen.thaw();
      expect([stateOf(first), stateOf(second)]).not.toContain('T');
    }),
  ));

test('a process goes on when the one that froze it is killed', () =>
  withSleeper(async (pid) => {
    const module = new URL('./frozen.ts', import.meta.url).href;
    const program = `const { freeze } = await import('${module}'); await freeze(${pid}); console.log('frozen'); setInterval(() => 0, 1000)`;
    const freezer = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(freezer.stdout, 'data');
    expect(stateOf(pid)).toBe('T');
    freezer.kill('SIGKILL');
    while (stateOf(pid) === 'T') await wait(10);
  }));

test('what does not run cannot be frozen', async () => {
  await expect(freeze(2 ** 22 + 1)).rejects.toThrow('cannot be stopped');
});
