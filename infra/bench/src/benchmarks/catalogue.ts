import type { Benchmark } from '../benchmark.ts';
import { processorTimes } from './cpu.ts';
import { cursorPages } from './cursor-pages.ts';
import { detokenizingInvocation } from './p1-detokenizing-invocation.ts';
import { tlsInvocation } from './p1-tls-invocation.ts';
import { twoGateways } from './p1-x2-two-gateways.ts';
import { plainInvocation } from './p2-plain-invocation.ts';
import { transformingInvocation } from './p3-transforming-invocation.ts';
import { addedLatency } from './p4-added-latency.ts';
import { largeBodies } from './p5-large-bodies.ts';
import { tokenCreation } from './p6-token-creation.ts';
import { applicationLookUp } from './p7-application-look-up.ts';
import { lists } from './p8-lists.ts';
import { usageReport } from './p9-usage-report.ts';
import { revocation } from './p10-revocation.ts';
import { gatewayMemory } from './p11-gateway-memory.ts';
import { massExpiry } from './p12-mass-expiry.ts';
import { secondStart } from './p13-second-start.ts';
import { neighbours } from './p14-neighbours.ts';
import { auditLog } from './p15-audit-log.ts';
import { scale } from './scale.ts';

/** In the order in which they run. */
export const benchmarks: readonly Benchmark[] = [
  detokenizingInvocation,
  tlsInvocation,
  twoGateways,
  plainInvocation,
  transformingInvocation,
  addedLatency,
  largeBodies,
  tokenCreation,
  applicationLookUp,
  lists,
  usageReport,
  revocation,
  gatewayMemory,
  massExpiry,
  secondStart,
  neighbours,
  ...auditLog,
  cursorPages,
  ...processorTimes,
  scale,
];
