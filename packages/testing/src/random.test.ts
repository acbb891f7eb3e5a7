import { seededRandom } from './random.ts';

test('a seed repeats its choices, and another makes others', () => {
  const draw = (seed: number) => {
    const random = seededRandom(seed);
    return Array.from({ length: 20 }, () => random.next());
  };
  expect(draw(5)).toEqual(draw(5));
  expect(draw(5)).not.toEqual(draw(6));
  expect(draw(5).every((number) => number >= 0 && number < 1)).toBe(true);
});

test('every element is picked, evenly enough', () => {
  const random = seededRandom(1);
  const counts = new Map<string, number>();
  for (let i = 0; i < 3000; i++) {
    const picked = random.pick(['a', 'b', 'c']);
    counts.set(picked, (counts.get(picked) ?? 0) + 1);
  }
  for (const letter of 'abc') expect(counts.get(letter)).toBeGreaterThan(800);
  expect(() => random.pick([])).toThrow(RangeError);
});
