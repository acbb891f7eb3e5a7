import type { Benchmark } from '../benchmark.ts';
import { measureCreation } from '../tokens/measure-creation.ts';

export const tokenCreation: Benchmark = {
  id: 'P6',
  work: 'POST /tokens of a card, 32 at a time',
  goal: 'at least 1.5 × a bare parameterised INSERT of the same row over pg; a tenth for each card of 1,000 at once of one request each',
  peerName: 'INSERT over pg',
  run: measureCreation,
};
