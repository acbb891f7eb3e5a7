import { runWeakened } from '../weakened/run-weakened.ts';
import { auditKilled } from './audit-killed.fault.ts';
import { auditUnstored } from './audit-unstored.fault.ts';
import { clientFaults } from './client-faults.fault.ts';
import { destinationFaults } from './destination-faults.fault.ts';
import type { FaultTest } from './fault-test.ts';
import { hostileTransforms } from './hostile-transforms.fault.ts';
import { ledgerFaults } from './ledger.fault.ts';
import { poolExhausted } from './pool.fault.ts';
import { processFaults } from './processes.fault.ts';
import { reactorRuns } from './reactor-runs.fault.ts';
import { revocation } from './revocation.fault.ts';
import { soak } from './soak.fault.ts';
import { startOrder } from './start-order.fault.ts';
import { storeFaults } from './stores.fault.ts';
import { tamperedRows } from './tampered-rows.fault.ts';
import { twoVersions } from './two-versions.fault.ts';
import { workerStalled } from './worker-stalled.fault.ts';

export const faultTests: readonly FaultTest[] = [
  ...processFaults,
  twoVersions,
  workerStalled,
  ...storeFaults,
  poolExhausted,
  startOrder,
  auditUnstored,
  auditKilled,
  ledgerFaults,
  tamperedRows,
  reactorRuns,
  destinationFaults,
  clientFaults,
  hostileTransforms,
  revocation({ regenerations: 10_000, quietMs: 15_000, nemesisMs: 60_000, limitMs: 900_000 }),
  {
    name: 'revocation-weakened',
    description:
      'each part of the coherence protocol switched off in turn: the checker of revocation finds a violation each time, and none in the product',
    run: runWeakened,
  },
  soak({ faultsMs: 16 * 60_000, calmMs: 60_000 }),
];
