import type { Benchmark } from './benchmark.ts';
import { largeBodies } from './bodies/large-bodies.ts';
import { guardedBodies } from './guard/guarded-bodies.ts';
import { invocations } from './invocation/invocations.ts';
import { connectionNeighbours } from './neighbours/connections.ts';
import { neighbours } from './neighbours/neighbours.ts';
import { waitingRuns } from './neighbours/waiting-runs.ts';
import { scale } from './scale/scale.ts';
import { secondStart } from './start/second-start.ts';
import { applicationLookUp, applicationLookUpCpu } from './stores/application-look-up.ts';
import { keyedCreation, keyedCreationCpu, tokenCreation, tokenCreationCpu } from './stores/token-creation.ts';

/** In the order in which they run. */
export const benchmarks: readonly Benchmark[] = [
  ...invocations.rates,
  largeBodies,
  guardedBodies,
  tokenCreation,
  keyedCreation,
  applicationLookUp,
  secondStart,
  neighbours,
  connectionNeighbours,
  waitingRuns,
  ...invocations.processorTimes,
  tokenCreationCpu,
  keyedCreationCpu,
  applicationLookUpCpu,
  scale,
];
