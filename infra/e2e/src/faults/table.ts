import { runWeakened } from '../weakened/run-weakened.ts';
import { auditKilled } from './audit-killed.fault.ts';
import type { FaultTest } from './fault-test.ts';
import { ledgerFaults } from './ledger.fault.ts';
import { poolExhausted } from './pool.fault.ts';
import { processFaults } from './processes.fault.ts';
import { reactorRuns } from './reactor-runs.fault.ts';
import { revocation } from './revocation.fault.ts';
import { soak } from './soak.fault.ts';
import { startOrder } from './start-order.fault.ts';
import { storeFaults } from './stores.fault.ts';
import { twoVersions } from './two-versions.fault.ts';
import { usage } from './usage.fault.ts';

export const faultTests: readonly FaultTest[] = [
  ...processFaults,
  usage,
  twoVersions,
  ...storeFaults,
  poolExhausted,
  startOrder,
  auditKilled,
  ledgerFaults,
  reactorRuns,
  revocation({ regenerations: 10_000, quietMs: 15_000, nemesisMs: 60_000, limitMs: 900_000 }),
  {
    name: 'revocation-weakened',
    description:
      'each part of the coherence protocol switched off in turn: the checker of revocation finds a violation each time, and none in the product',
    run: (context) => runWeakened(context),
  },
  soak({ faultsMs: 16 * 60_000, calmMs: 60_000 }),
];
