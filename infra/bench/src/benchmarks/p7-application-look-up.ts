import type { Benchmark } from '../benchmark.ts';
import { measureLookUp } from '../management/measure-look-up.ts';

export const applicationLookUp: Benchmark = {
  id: 'P7',
  work: 'GET /applications/{id}, authenticated, warm',
  goal: 'at least 0.8 × a bare parameterised SELECT of the row over pg',
  peerName: 'SELECT over pg',
  run: (context) => measureLookUp(context, { atLeast: 0.8 }),
};
