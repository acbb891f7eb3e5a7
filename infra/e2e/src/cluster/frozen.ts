import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Stops the process at the end of the script's input: the line that asks for it, or that this process is gone. */
const script = 'kill -STOP "$1" || exit 1; echo stopped; read -r _; kill -CONT "$1"';

export interface Frozen {
  /** Lets the process go on; resolves when it does. Harmless to call twice. */
  thaw(): Promise<void>;
}

/**
 * Stops a process as SIGSTOP does. A helper process holds it, in a session of its own, which lets it go on when this
 * process dies, however it dies: a frozen process would hear nobody who asks it to end.
 * @throws {Error} where there is no such process (any more).
 */
export async function freeze(pid: number): Promise<Frozen> {
  const helper = spawn('sh', ['-c', script, 'sh', String(pid)], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  helper.stdin.on('error', () => undefined); // it has ended already
  const gone = once(helper, 'exit');
  const isStopped = await Promise.race([once(helper.stdout, 'data').then(() => true), gone.then(() => false)]);
  if (!isStopped) throw new Error(`Process ${pid} cannot be stopped`);
  return {
    async thaw() {
      helper.stdin.end();
      await gone;
    },
  };
}
