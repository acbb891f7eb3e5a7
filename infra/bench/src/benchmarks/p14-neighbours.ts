import type { Benchmark } from '../benchmark.ts';
import { measureNeighbours } from '../neighbours/measure-neighbours.ts';

export const neighbours: Benchmark = {
  id: 'P14',
  name: 'neighbours',
  work: "p99 of one Tenant's invocations while another sends the worst known small requests",
  goal: 'at most 2 × its p99 alone, and never over 100 ms more',
  peerName: 'the same Tenant alone; that limit',
  run: measureNeighbours,
};
