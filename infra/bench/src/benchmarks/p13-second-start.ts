import type { Benchmark } from '../benchmark.ts';
import { measureStart } from '../start/measure-start.ts';

export const secondStart: Benchmark = {
  id: 'P13',
  work: 'npm start until it is ready, on a folder that was started before',
  goal: 'at most 5 s',
  peerName: '5 s',
  run: measureStart,
};
