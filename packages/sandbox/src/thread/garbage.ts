import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Discarded instances may occupy this much memory before V8 is made to free it. */
const maximumWaitingBytes = 16 * 2 ** 20;

/** V8 sees only small objects although an instance occupies hundreds of MiB, so by itself it collects far too late. */
export class Garbage {
  readonly #collectNow: () => void;
  #waitingBytes = 0;

  constructor() {
    setFlagsFromString('--expose-gc');
    this.#collectNow = runInNewContext('gc');
  }

  add(bytes: number): void {
    this.#waitingBytes += bytes;
  }

  /** Call it while nothing on the stack refers to an instance. */
  collect(): void {
    if (this.#waitingBytes < maximumWaitingBytes) return;
    this.#collectNow();
    this.#waitingBytes = 0;
  }
}
