import { runWeakened } from '../weakened/run-weakened.ts';
import type { FaultTest } from './fault-test.ts';

export const revocationWeakened: FaultTest = {
  name: 'revocation-weakened',
  description:
    'each part of the coherence protocol switched off in turn: the checker of revocation finds a violation each time, and none in the product',
  run: runWeakened,
};
