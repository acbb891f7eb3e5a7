import type { Benchmark } from '../benchmark.ts';
import { measureAddedLatency } from '../invocation/measure-added-latency.ts';

export const addedLatency: Benchmark = {
  id: 'P4',
  work: "latency that P1's invocation adds to the destination's own, at half of the gateway's maximum rate",
  goal: 'p50 at most 0.5 ms, p99 at most 3 ms',
  peerName: 'those limits; what http-proxy 1.18.1 adds at the same rate',
  run: measureAddedLatency,
};
