import { isMet, median, percentile, ratios, spread } from './statistics.ts';

describe('median', () => {
  test('is the middle of an odd number of values, in whatever order they come', () => {
    expect(median([10, 9, 100])).toBe(10);
  });

  test('is halfway between the two in the middle of an even number', () => {
    expect(median([4, 1, 3, 100])).toBe(3.5);
  });

  test('of nothing is refused', () => {
    expect(() => median([])).toThrow(RangeError);
  });
});

describe('percentile', () => {
  test('is the value of the nearest rank, in whatever order they come', () => {
    const values = Array.from({ length: 200 }, (_, i) => 200 - i);
    expect([50, 99, 100].map((percent) => percentile(values, percent))).toEqual([100, 198, 200]);
    expect(percentile([7], 99)).toBe(7);
  });

  test('of nothing is refused', () => {
    expect(() => percentile([], 99)).toThrow(RangeError);
  });
});

test('the spread is the lowest and the highest', () => {
  expect(spread([3, 1, 2])).toEqual([1, 3]);
});

describe('ratios', () => {
  test('compare the values of the same round', () => {
    expect(ratios([16, 30], [10, 15])).toEqual([1.6, 2]);
  });

  test('of a round that the peer lacks are not a number', () => {
    expect(ratios([1, 1], [1])).toEqual([1, Number.NaN]);
  });
});

describe('a goal', () => {
  test('that is a minimum is met from there on', () => {
    expect([1.59, 1.6, 1.7].map((ratio) => isMet({ atLeast: 1.6 }, ratio))).toEqual([false, true, true]);
  });

  test('that is a maximum is met up to there', () => {
    expect([1.9, 2, 2.01].map((ratio) => isMet({ atMost: 2 }, ratio))).toEqual([true, true, false]);
  });

  test('is never met by what is not a number', () => {
    expect(isMet({ atLeast: 0 }, Number.NaN)).toBe(false);
    expect(isMet({ atMost: 2 }, Number.NaN)).toBe(false);
  });
});
