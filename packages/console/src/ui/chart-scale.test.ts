import { roundAbove, timeTicks, unknownParts } from './chart-scale.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const texts = (atMs: readonly number[]) => atMs.map((at) => new Date(at).toISOString());

test.each([
  ['an hour', '2026-03-02T08:31:00Z', '2026-03-02T09:31:00Z', 0, 6, '2026-03-02T08:40:00.000Z', false],
  ['a day', '2026-03-01T09:45:00Z', '2026-03-02T09:45:00Z', 0, 6, '2026-03-01T12:00:00.000Z', false],
  ['a week', '2026-02-23T10:00:00Z', '2026-03-02T10:00:00Z', 0, 7, '2026-02-24T00:00:00.000Z', true],
  ['a month', '2026-01-31T12:00:00Z', '2026-03-02T12:00:00Z', 0, 6, '2026-02-01T00:00:00.000Z', true],
])('the axis of %s has a few round times', (_, from, to, offsetMs, count, first, areDays) => {
  const ticks = timeTicks(Date.parse(from), Date.parse(to), offsetMs);
  expect([ticks.atMs.length, texts(ticks.atMs)[0], ticks.areDays]).toEqual([count, first, areDays]);
});

test('a day begins at the midnight of the zone', () => {
  const week = [Date.parse('2026-02-23T10:00:00Z'), Date.parse('2026-03-02T10:00:00Z')] as const;
  expect(texts(timeTicks(...week, 5.5 * hourMs).atMs)[0]).toBe('2026-02-23T18:30:00.000Z');
  expect(texts(timeTicks(...week, -8 * hourMs).atMs)[0]).toBe('2026-02-24T08:00:00.000Z');
});

test.each([
  [0, 2],
  [1, 2],
  [3, 4],
  [5, 6],
  [9, 10],
  [10, 10],
  [11, 20],
  [41, 60],
  [388, 400],
  [81_000, 100_000],
])('the axis of %d ends at %d', (value, top) => {
  expect(roundAbove(value)).toBe(top);
});

test('what is unknown is no zero', () => {
  expect(unknownParts([null, null, 0, 3])).toEqual([{ from: 0, to: 0.5 }]);
  expect(unknownParts([0, null, 1, null])).toEqual([
    { from: 0.25, to: 0.5 },
    { from: 0.75, to: 1 },
  ]);
  expect(unknownParts([0, 0])).toEqual([]);
  expect(unknownParts([null])).toEqual([{ from: 0, to: 1 }]);
});
