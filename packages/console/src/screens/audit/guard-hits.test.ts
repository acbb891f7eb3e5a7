import { guardHitsOf } from './guard-hits.ts';

test.each<[string, Record<string, unknown> | undefined, unknown]>([
  ['no detail', undefined, undefined],
  ['a use', { token_ids: ['t'] }, undefined],
  ['values that were found', { token_ids: ['t'], guard_hits: 2 }, 2],
  ['none', { guard_hits: 0 }, undefined],
  ['another form', { guard_hits: '2' }, undefined],
])('%s', (_name, detail, hits) => {
  expect(guardHitsOf(detail)).toBe(hits);
});
