import type { Benchmark } from '../benchmark.ts';
import { measureMemory } from '../memory/measure-memory.ts';

export const gatewayMemory: Benchmark = {
  id: 'P11',
  work: 'peak memory of a gateway with 100,000 Proxies and 1,000,000 Applications in Postgres, 60,000 of each in use',
  goal: 'at most 300 MiB',
  peerName: 'that limit',
  run: measureMemory,
};
