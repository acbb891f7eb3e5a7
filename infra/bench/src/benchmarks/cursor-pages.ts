import type { Benchmark } from '../benchmark.ts';
import { measureCursorPages } from '../lists/measure-cursor-pages.ts';

export const cursorPages: Benchmark = {
  id: 'CURSORS',
  work: 'page 1,000 of GET /v2/tokens by cursor, 100 tokens a page',
  goal: 'at most 1.5 × the time of page 1',
  peerName: 'page 1',
  run: (context) => measureCursorPages(context, { atMost: 1.5 }),
};
