import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Discarded instances may hold this much memory before V8 is made to free it. */
const maximumWaitingBytes = 16 * 2 ** 20;

export interface Garbage {
  add(bytes: number): void;
  /** Call it while nothing on the stack holds an instance. */
  collect(): void;
}

/** V8 sees only small objects where an instance holds hundreds of MiB, so by itself it collects gigabytes too late. */
export function newGarbage(): Garbage {
  setFlagsFromString('--expose-gc');
  const collectNow: () => void = runInNewContext('gc');
  let waitingBytes = 0;
  return {
    add: (bytes) => {
      waitingBytes += bytes;
    },
    collect: () => {
      if (waitingBytes < maximumWaitingBytes) return;
      collectNow();
      waitingBytes = 0;
    },
  };
}
