import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../launch-error.ts';
import { hasEnded, untilEnded } from '../processes/child.ts';
import { describeDeath } from './service-process.ts';

/** A process that ends this often within the period is not started again. */
const mostEnds = 5;
const periodMs = 60_000;
/** Doubles with each end within the period. */
const firstPauseMs = 250;

export interface SupervisorOptions {
  logFile: (name: string) => string;
  /** Called with messages for people. */
  log: (line: string) => void;
  processes: () => ReadonlyMap<string, ChildProcess>;
  /** Starts an ended process again; resolves when it is ready. */
  restart: (name: string) => Promise<void>;
  /** Whether processes are started again at all. */
  restarts: boolean;
  /** From its abort on, processes end as intended. */
  signal: AbortSignal;
}

/** Starts processes again that end unexpectedly. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #died = Promise.withResolvers<string>();
  readonly #watches: Promise<void>[] = [];
  readonly #stopped: Promise<void>;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const { signal } = options;
    this.#stopped = new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  /** Resolves with a message for people when a process has ended unexpectedly and is not started again. */
  get died(): Promise<string> {
    return this.#died.promise;
  }

  watch(name: string): void {
    this.#watches.push(this.#keepRunning(name));
  }

  /** Resolves, after the abort of the signal, when no process will be started any more. */
  async untilIdle(): Promise<void> {
    await Promise.all(this.#watches);
  }

  async #keepRunning(name: string): Promise<void> {
    const { processes, restart, restarts, log, logFile, signal } = this.#options;
    let ends: number[] = [];
    for (;;) {
      const child = processes().get(name);
      if (!child) throw new Error(`There is no process ${name}`);
      await Promise.race([untilEnded(child), this.#stopped]);
      if (signal.aborted) return;
      const death = await describeDeath(name, child, logFile(name));
      const now = performance.now();
      ends = [...ends.filter((at) => now - at < periodMs), now];
      if (!restarts) return this.#died.resolve(death);
      if (ends.length === mostEnds) {
        return this.#died.resolve(`${death}\n${name} has ended ${mostEnds} times within a minute, so everything stops`);
      }
      log(death);
      try {
        await sleep(firstPauseMs * 2 ** (ends.length - 1), undefined, { signal });
        log(`Starting ${name} again`);
        await restart(name);
        log(`${name} is running again`);
      } catch (error) {
        if (signal.aborted) return;
        const started = processes().get(name);
        // The next turn reports a new process that has ended already.
        if (started === child || (started && !hasEnded(started))) log(messageOf(error));
      }
    }
  }
}
