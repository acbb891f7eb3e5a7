import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Memory of discarded instances that may wait for V8 to free it. */
const maximumWaitingBytes = 16 * 2 ** 20;

/** Frees the memory of discarded instances soon. */
export interface Garbage {
  /** An instance with this much memory was discarded. */
  add(bytes: number): void;
  /** To be called while nothing on the stack holds an instance. */
  collect(): void;
}

/** V8 sees only a few small objects where an instance holds hundreds of MiB, so it would collect gigabytes too late. */
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
