import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

/** Stops the processes until the end of the script's input: the line that asks for it, or that this process is gone. */
const script = `
for pid; do kill -STOP "$pid" && stopped=1; done
[ "$stopped" ] || exit 1
echo stopped
read -r _
for pid; do kill -CONT "$pid"; done`;

export interface Frozen {
  /** Lets what was frozen go on; resolves when it does. Harmless to call twice. */
  thaw(): Promise<void>;
}

/**
 * Stops processes as SIGSTOP does; those that are gone by then are left out. A helper process holds them, in a session
 * of its own, which lets them go on when this process dies, however it dies: a frozen process would hear nobody who asks
 * it to end.
 * @throws {Error} where none of them can be stopped (any more).
 */
export async function freeze(...pids: readonly number[]): Promise<Frozen> {
  const helper = spawn('sh', ['-c', script, 'sh', ...pids.map(String)], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  helper.stdin.on('error', () => undefined); // it has ended already
  const gone = once(helper, 'exit');
  const isStopped = await Promise.race([once(helper.stdout, 'data').then(() => true), gone.then(() => false)]);
  if (!isStopped) throw new Error(`Process ${pids.join(', ')} cannot be stopped`);
  await Promise.all(pids.map(untilStill));
  return {
    async thaw() {
      helper.stdin.end();
      await gone;
    },
  };
}

const stillWithinMs = 2000;

/** A signal that has been sent is obeyed a little later. */
async function untilStill(pid: number): Promise<void> {
  const until = performance.now() + stillWithinMs;
  while (performance.now() < until && (await isRunning(pid))) await wait(1);
}

async function isRunning(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined); // it is gone
  const state = text?.slice(text.lastIndexOf(') ') + 2)[0];
  return state !== undefined && !'TtZX'.includes(state);
}
