import { graph, toColumns } from './graphs.ts';

test('the least value is the lowest bar, the greatest the highest, and nothing is a blank', () => {
  expect(graph('memory', [10, 80, undefined, 45], 'MiB')).toMatch(/^memory {2,}10 ▁█ ▅ 80 MiB$/);
  expect(graph('flat', [5, 5], 's')).toMatch(/ 5 ▁▁ 5 s$/);
  expect(graph('none', [undefined], 's')).toMatch(/no values$/);
});

test('values are gathered by when they were taken', () => {
  const series = [0, 1, 2, 9].map((at) => ({ at }));
  const columns = toColumns(series, { from: 0, until: 9, columns: 3 }, (some) => some.length);
  expect(columns).toEqual([3, undefined, 1]);
});
