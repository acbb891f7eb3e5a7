import type { Benchmark } from '../benchmark.ts';
import { measureTwoGateways } from '../invocation/measure-two-gateways.ts';

export const twoGateways: Benchmark = {
  id: 'P1-X2',
  work: 'P1 with two gateway processes, each with its own load',
  goal: 'no goal',
  peerName: 'one of the two alone',
  run: measureTwoGateways,
};
