import { WindowCounter } from './window-counter.ts';

test('each id has its number in each window, and hears how long the window lasts', () => {
  let now = 1000;
  const counter = new WindowCounter({ points: 2, windowMs: 500, now: () => now });
  expect([1, 2, 3, 4].map(() => counter.count('a'))).toEqual([0, 0, 500, 500]);
  now = 1400;
  expect([counter.count('a'), counter.count('b'), counter.count('b'), counter.count('b')]).toEqual([100, 0, 0, 100]);
  now = 1500;
  expect([1, 2, 3].map(() => counter.count('a'))).toEqual([0, 0, 500]);
});

test('ids beyond those it can tell apart pass, and those it knows stay limited', () => {
  const counter = new WindowCounter({ points: 1, windowMs: 500, maxIds: 2, now: () => 1 });
  expect([counter.count('a'), counter.count('b'), counter.count('c'), counter.count('c')]).toEqual([0, 0, 0, 0]);
  expect([counter.count('a'), counter.count('b')]).toEqual([500, 500]);
});

test('several count at once, and those that go beyond use the window up', () => {
  let now = 0;
  const counter = new WindowCounter({ points: 5, windowMs: 500, now: () => now });
  expect([counter.count('a', 3), counter.count('a', 2), counter.count('a')]).toEqual([0, 0, 500]);
  expect([counter.count('b', 3), counter.count('b', 3), counter.count('b', 1)]).toEqual([0, 500, 500]);
  now = 500;
  expect([counter.count('b', 5), counter.count('b', 1)]).toEqual([0, 500]);
});
