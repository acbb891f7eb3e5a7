import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Memory of thrown-away instances that may wait for V8 to notice. */
const maximumWaitingBytes = 16 * 2 ** 20;

/** Frees the memory of instances soon after they were thrown away. */
export interface Garbage {
  /** An instance was thrown away that had so much memory. */
  add(bytes: number): void;
  /** Call it while nothing on the stack holds an instance. */
  collect(): void;
}

/** V8 sees a few small objects where an instance has up to hundreds of MiB: left alone, it lets gigabytes gather. */
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
