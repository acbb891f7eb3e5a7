import { countText, failuresOf, millisecondsText, peakOf, shareText, sumOf } from './sums.ts';

test('a sum counts what is known, and is unknown if nothing is', () => {
  expect(sumOf([null, 2, 0, 3])).toBe(5);
  expect(sumOf([0, 0])).toBe(0);
  expect(sumOf([null, null])).toBeUndefined();
});

test('causes are added step by step, and a step that is unknown stays unknown', () => {
  const requests = [null, 9, 4];
  expect(failuresOf({ requests, errors: { internal: [null, 1, 0], forbidden: [null, 2, 0] } })).toEqual([null, 3, 0]);
  expect(failuresOf({ requests, errors: {} })).toEqual([null, 0, 0]);
});

test('the peak is the highest step, and nothing has none', () => {
  expect(peakOf([null, 1, 7, 7])).toEqual({ step: 2, count: 7 });
  expect(peakOf([null, 0])).toBeUndefined();
});

test('a part of nothing is no number', () => {
  expect(shareText(0, 0)).toBe('nothing was invoked');
  expect(shareText(1, 40)).toBe('2.5% of all');
  expect(shareText(2, 3)).toBe('67% of all');
  expect(shareText(undefined, undefined)).toBe('');
});

test('the unknown is a dash, and no zero', () => {
  expect([countText(null), countText(0), countText(1200)]).toEqual(['–', '0', '1,200']);
  expect([millisecondsText(null), millisecondsText(0), millisecondsText(4.26), millisecondsText(1234)]).toEqual([
    ...['–', '0 ms', '4.3 ms', '1,234 ms'],
  ]);
});
