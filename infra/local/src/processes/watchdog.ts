import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { join } from 'node:path';

/** Ends processes when this one ends, even by `kill -9`. */
export interface Watchdog {
  /** When this process ends, the given one gets `signal`, and SIGKILL 10 s later. */
  watch(pid: number | undefined, signal: NodeJS.Signals): void;
  /** Ends watched processes that still run, then the watchdog itself. */
  close(): Promise<void>;
}

/** Starts the watchdog in a session of its own, so that Ctrl-C in the terminal does not reach it. */
export async function startWatchdog(): Promise<Watchdog> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'watchdog.process.ts')], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await once(child, 'spawn');
  const gone = once(child, 'exit');
  const pipe = child.stdin;
  pipe.on('error', () => child.kill()); // the watchdog was killed
  child.unref();
  if (pipe instanceof Socket) pipe.unref();
  return {
    watch(pid, signal) {
      if (pid !== undefined && pipe.writable) pipe.write(`${pid} ${signal}\n`);
    },
    async close() {
      pipe.end();
      child.ref();
      await gone;
    },
  };
}
