import type { Benchmark } from '../benchmark.ts';
import { measureStart } from '../start/measure-start.ts';

export const secondStart: Benchmark = {
  id: 'P13',
  work: 'npm start until it is ready, on a folder that was started before',
  goal: 'at most 3 s',
  peerName: '3 s',
  run: measureStart,
};
