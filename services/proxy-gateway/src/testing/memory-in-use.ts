import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What is in use after everything that can go has gone, in bytes. */
export function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  collectGarbage();
  collectGarbage(); // buffers go with the second
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
