import type { FaultTest } from './fault-test.ts';
import { gatewayFrozen, gatewayKilled, gatewayStopped } from './gateways.fault.ts';
import { redisFrozen } from './redis.fault.ts';
import { revocation } from './revocation.fault.ts';
import { revocationWeakened } from './revocation-weakened.fault.ts';
import { soak } from './soak.fault.ts';

/** All fault tests, in the order in which they run. */
export const faultTests: readonly FaultTest[] = [gatewayFrozen, gatewayKilled, gatewayStopped, redisFrozen, revocation, revocationWeakened, soak];
