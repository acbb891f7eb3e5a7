import type { Benchmark } from '../benchmark.ts';
import { measureExpiry } from '../expiry/measure-expiry.ts';

export const massExpiry: Benchmark = {
  id: 'P12',
  work: '100,000 Applications that expire in one second',
  goal: 'none usable after its moment; all rows gone in 20 s; API latency meanwhile at most 1.5 ×',
  peerName: 'those limits',
  run: measureExpiry,
};
