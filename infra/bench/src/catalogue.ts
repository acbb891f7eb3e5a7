import { logExport } from './audit-log/export.ts';
import { logReading } from './audit-log/reading.ts';
import { sequencing } from './audit-log/sequencing.ts';
import type { Benchmark } from './benchmark.ts';
import { largeBodies } from './bodies/large-bodies.ts';
import { massExpiry } from './expiry/mass-expiry.ts';
import { addedLatency } from './invocation/added-latency.ts';
import { invocations } from './invocation/invocations.ts';
import { twoGateways } from './invocation/two-gateways.ts';
import { cursorPages } from './lists/cursor-pages.ts';
import { lists } from './lists/lists.ts';
import { usageReport } from './lists/usage-report.ts';
import { gatewayMemory } from './memory/gateway-memory.ts';
import { connectionNeighbours } from './neighbours/connections.ts';
import { neighbours } from './neighbours/neighbours.ts';
import { waitingRuns } from './neighbours/waiting-runs.ts';
import { revocation } from './revocation/revocation.ts';
import { scale } from './scale/scale.ts';
import { secondStart } from './start/second-start.ts';
import { applicationLookUp, applicationLookUpCpu } from './stores/application-look-up.ts';
import { keyedCreation, keyedCreationCpu, tokenCreation, tokenCreationCpu } from './stores/token-creation.ts';

const [p1, p1Tls, p2, p3] = invocations.rates;

/** In the order in which they run. */
export const benchmarks: readonly Benchmark[] = [
  p1,
  p1Tls,
  twoGateways,
  p2,
  p3,
  addedLatency,
  largeBodies,
  tokenCreation,
  keyedCreation,
  applicationLookUp,
  lists,
  usageReport,
  revocation,
  gatewayMemory,
  massExpiry,
  secondStart,
  neighbours,
  connectionNeighbours,
  waitingRuns,
  logReading,
  logExport,
  sequencing,
  cursorPages,
  ...invocations.processorTimes,
  tokenCreationCpu,
  keyedCreationCpu,
  applicationLookUpCpu,
  scale,
];
