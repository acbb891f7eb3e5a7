import { auditKilled } from './audit-killed.fault.ts';
import { auditUnstored } from './audit-unstored.fault.ts';
import { clientFaults } from './client-faults.fault.ts';
import { destinationFaults } from './destination-faults.fault.ts';
import type { FaultTest } from './fault-test.ts';
import { gatewayFrozen, gatewayKilled, gatewayStopped } from './gateways.fault.ts';
import { hostileTransforms } from './hostile-transforms.fault.ts';
import { ledgerFaults } from './ledger.fault.ts';
import { poolExhausted } from './pool.fault.ts';
import { postgresFrozen, postgresKilled, postgresTerminated } from './postgres.fault.ts';
import { pubsubKilled, redisFlushed, redisFrozen, redisKilled } from './redis.fault.ts';
import { revocation } from './revocation.fault.ts';
import { revocationWeakened } from './revocation-weakened.fault.ts';
import { rollingRestart } from './rolling-restart.fault.ts';
import { soak } from './soak.fault.ts';
import { startOrder } from './start-order.fault.ts';
import { tamperedRows } from './tampered-rows.fault.ts';
import { twoVersions } from './two-versions.fault.ts';
import { workerStalled } from './worker-stalled.fault.ts';
import { writersKilled } from './writers-killed.fault.ts';

/** All fault tests, in the order in which they run. */
export const faultTests: readonly FaultTest[] = [
  gatewayFrozen,
  gatewayKilled,
  gatewayStopped,
  rollingRestart,
  twoVersions,
  writersKilled,
  workerStalled,
  redisFrozen,
  redisKilled,
  pubsubKilled,
  redisFlushed,
  postgresTerminated,
  postgresFrozen,
  postgresKilled,
  poolExhausted,
  startOrder,
  auditUnstored,
  auditKilled,
  ledgerFaults,
  tamperedRows,
  destinationFaults,
  clientFaults,
  hostileTransforms,
  revocation,
  revocationWeakened,
  soak,
];
