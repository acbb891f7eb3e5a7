import type { Benchmark } from '../benchmark.ts';
import { measureRevocation } from '../revocation/measure-revocation.ts';

export const revocation: Benchmark = {
  id: 'P10',
  work: 'POST /applications/{id}/regenerate with 3 gateways that have the key in memory',
  goal: 'p99 at most 20 ms; with one gateway stopped at most a lease (2 s) and 50 ms',
  peerName: 'those limits',
  run: measureRevocation,
};
