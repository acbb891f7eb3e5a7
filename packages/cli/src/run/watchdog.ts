import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RefusedError } from '../failure.ts';

/** What the watchdog reads. */
export interface GuardedSession {
  url: string;
  headerPrefix: string;
  key: string;
}

export interface Watchdog extends Disposable {
  /** Resolves when the watchdog ends the session if this process ends from now on. @throws {RefusedError} */
  guard(session: GuardedSession): Promise<void>;
  /** Tells that the session is authorized. */
  confirm(): Promise<void>;
  /** Called if the watchdog ends while it guards the session. */
  onLost(act: () => void): void;
  /** Lets it end the session, and waits so long. It is `lost` if it does not do so any more. */
  end(withinMs: number, signal: AbortSignal): Promise<'ended' | 'trying' | 'lost'>;
}

/** The same file in the sources and in the package. */
const program = new URL(`./watchdog.process${extname(import.meta.url)}`, import.meta.url);

/** Starts the watchdog. Its environment has none of our variables, and its arguments have no key. */
export function openWatchdog(env: Readonly<Record<string, string | undefined>>): Watchdog {
  const child = spawn(process.execPath, [fileURLToPath(program)], {
    // A group and a session of processes of its own (setsid), so that no terminal ends it.
    detached: true,
    cwd: '/',
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SLUICE_'))),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exited = new Promise<number | undefined>((resolve) => {
    child.once('exit', (code) => resolve(code ?? undefined));
    child.once('error', () => resolve(undefined));
  });
  const ready = Promise.race([
    once(child.stdout, 'data'),
    exited.then(() =>
      Promise.reject(
        new RefusedError(
          'The command was not run, because the watchdog did not start. The watchdog is the process that ends the session',
        ),
      ),
    ),
  ]);
  // Judged by whoever waits for it.
  ready.catch(() => undefined);
  // Each write tells its own failure.
  child.stdin.on('error', () => undefined);
  let isEnding = false;
  return {
    guard: async (session) => {
      await ready;
      child.stdout.destroy();
      await writeLine(child.stdin, JSON.stringify(session));
    },
    confirm: () => writeLine(child.stdin, 'authorized'),
    onLost: (act) => {
      void exited.then(() => {
        if (!isEnding) act();
      });
    },
    end: async (withinMs, signal) => {
      isEnding = true;
      child.stdin.end();
      using waiting = openTimer(withinMs, signal);
      return await Promise.race([exited.then((code) => (code === 0 ? 'ended' : 'lost')), waiting.late]);
    },
    [Symbol.dispose]: () => {
      isEnding = true;
      child.stdin.end();
      child.stdout.destroy();
      child.unref();
    },
  };
}

/** A timer that keeps this process waiting no longer than it is of use. */
function openTimer(ms: number, signal: AbortSignal): Disposable & { late: Promise<'trying'> } {
  const over = new AbortController();
  const options = { signal: AbortSignal.any([signal, over.signal]) };
  const late = delay(ms, 'trying' as const, options).catch(() => 'trying' as const);
  return { late, [Symbol.dispose]: () => over.abort() };
}

async function writeLine(pipe: Writable, line: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    pipe.write(`${line}\n`, (error) => {
      if (error)
        reject(
          new RefusedError(
            'The command was not run, because the watchdog was ended. The watchdog is the process that ends the session',
            { cause: error },
          ),
        );
      else resolve();
    });
  });
}
