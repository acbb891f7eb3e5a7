import { randomSeed, seededRandom } from '@sluice/testing';
import { naiveMatches } from '../testing/naive-matches.ts';
import { Skips } from './skips.ts';

const patternsOf = (texts: readonly string[]) =>
  texts.map((text, value) => ({ bytes: Buffer.from(text, 'latin1'), value }));

/** Where it stops in the text, one stop after the other. */
function stopsOf(skips: Skips, text: Buffer): number[] {
  const stops: number[] = [];
  for (let at = skips.next(text, 0); at < text.length; at = skips.next(text, at + 1)) stops.push(at);
  return stops;
}

const seed = randomSeed();

test(`it stops wherever a pattern begins (seed ${seed})`, () => {
  const random = seededRandom(seed);
  const word = (least: number, most: number) =>
    Array.from({ length: Math.floor(random.between(least, most + 1)) }, () => random.pick([...'abc\xff'])).join('');
  for (let i = 0; i < 3000; i++) {
    const patterns = patternsOf(Array.from({ length: 3 }, () => word(3, 9)));
    const parts = Array.from({ length: 6 }, () =>
      random.chance(0.5) ? random.pick(patterns).bytes.toString('latin1') : word(1, 12),
    );
    const text = Buffer.from(parts.join(''), 'latin1');
    const begins = patterns.flatMap((pattern) => naiveMatches([pattern], text).map(({ start }) => start));
    const stops = new Set(stopsOf(new Skips(patterns), text));
    const missed = begins.filter((start) => !stops.has(start));
    expect({ patterns, text, missed }).toEqual({ patterns, text, missed: [] });
  }
});

test('a text without beginnings is read in steps of nearly the shortest pattern', () => {
  const skips = new Skips(patternsOf(['abcdefgh', 'secret values']));
  const text = Buffer.alloc(6000, '.');
  expect(skips.next(text, 0)).toBeGreaterThan(text.length - 8);
  expect(stopsOf(skips, text).length).toBeLessThan(8);
});

test.each([
  ['a pattern is shorter than three bytes', ['ab', 'abcdef']],
  ['there are very many patterns', Array.from({ length: 1025 }, (_, i) => `secret ${i}`)],
])('it stops everywhere if %s', (_, texts) => {
  expect(stopsOf(new Skips(patternsOf(texts)), Buffer.alloc(50, '.'))).toHaveLength(50);
});
