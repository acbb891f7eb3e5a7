import type { Benchmark } from '../benchmark.ts';
import { measureScale } from '../scale/measure-scale.ts';

export const scale: Benchmark = {
  id: 'SCALE',
  work: 'processor time, statements and commands per thousand requests: one, two and four gateways, and the vault',
  goal: 'no goal; written to scale.json',
  peerName: 'nobody',
  run: measureScale,
};
