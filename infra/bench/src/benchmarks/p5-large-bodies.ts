import type { Benchmark } from '../benchmark.ts';
import { measureStreaming } from '../bodies/measure-streaming.ts';

export const largeBodies: Benchmark = {
  id: 'P5',
  work: '100 MiB body streamed each way',
  goal: 'at least 0.75 × the throughput of nginx; peak memory at most 32 MiB over idle',
  peerName: 'nginx, and that limit',
  run: measureStreaming,
};
