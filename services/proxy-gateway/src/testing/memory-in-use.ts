import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** In bytes, once all garbage is collected. */
export function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  collectGarbage();
  collectGarbage(); // buffers go with the second
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
