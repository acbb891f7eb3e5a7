import type { Benchmark } from '../benchmark.ts';
import { measureLists } from '../lists/measure-lists.ts';

export const lists: Benchmark = {
  id: 'P8',
  work: 'first page of a list with its total, 1,000,000 rows in the Tenant',
  goal: 'at most 1.2 × the time with 1,000 rows',
  peerName: 'the same with 1,000 rows',
  run: (context) => measureLists(context, { atMost: 1.2 }),
};
