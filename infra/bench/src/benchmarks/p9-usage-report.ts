import type { Benchmark } from '../benchmark.ts';
import { measureUsage } from '../usage/measure-usage.ts';

export const usageReport: Benchmark = {
  id: 'P9',
  work: 'usage report, 10,000,000 tokens in the Tenant',
  goal: 'at most 1.2 × the time with 1,000 tokens',
  peerName: 'the same with 1,000 tokens',
  run: measureUsage,
};
