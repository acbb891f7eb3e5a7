import type { ChildProcess } from 'node:child_process';
import { untilEnded } from '../processes/child.ts';
import { describeDeath } from './service-process.ts';

/** Resolves with a message for people when a watched process ends unexpectedly. */
export class DeathWatch {
  readonly #died = Promise.withResolvers<string>();
  readonly #logFile: (name: string) => string;
  #wanted = false;

  constructor(logFile: (name: string) => string) {
    this.#logFile = logFile;
  }

  get died(): Promise<string> {
    return this.#died.promise;
  }

  watch(name: string, child: ChildProcess): void {
    void untilEnded(child).then(async () => {
      if (!this.#wanted) this.#died.resolve(await describeDeath(name, child, this.#logFile(name)));
    });
  }

  /** From now on processes end as intended. */
  stop(): void {
    this.#wanted = true;
  }
}
