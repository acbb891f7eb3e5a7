import type { FaultTest } from './fault-test.ts';
import { redisFrozen } from './redis.fault.ts';
import { revocation } from './revocation.fault.ts';
import { revocationWeakened } from './revocation-weakened.fault.ts';

/** All fault tests, in the order in which they run. */
export const faultTests: readonly FaultTest[] = [redisFrozen, revocation, revocationWeakened];
