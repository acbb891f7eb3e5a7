import { type Random, randomSeed, seededRandom } from '@sluice/testing';
import { automatonOf, naiveMatches } from '../testing/naive-matches.ts';
import { Automaton } from './automaton.ts';
import { Scanner } from './scanner.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const patternsOf = (texts: readonly string[]) => texts.map((text, value) => ({ bytes: bytes(text), value }));

function scan(automaton: Automaton, chunks: readonly string[]) {
  const scanner = new Scanner(automaton);
  return [...chunks.flatMap((chunk) => scanner.read(bytes(chunk))), ...scanner.end()];
}

const ranges = (texts: readonly string[], chunks: readonly string[]) =>
  scan(automatonOf(patternsOf(texts)), chunks).map(({ start, end }) => [start, end]);

test.each<[string, string[], string[], number[][]]>([
  ['one', ['secret'], ['a secret.'], [[2, 8]]],
  ['one across chunks', ['secret'], ['a se', 'c', 'ret.'], [[2, 8]]],
  ['one at the end', ['secret'], ['a sec', 'ret'], [[2, 8]]],
  ['the longest of those that start together', ['abc', 'abcdef'], ['abcdef'], [[0, 6]]],
  ['the shorter one if the longer one breaks off', ['abc', 'abcdef'], ['abcdex', 'abc'], [[0, 3], [6, 9]]], // biome-ignore format: one line
  ['the leftmost, whatever ends first', ['abcdefg', 'cd'], ['abcdefg'], [[0, 7]]],
  ['the one within, if the leftmost breaks off', ['abcdefg', 'cd'], ['abcdefx'], [[2, 4]]],
  ['all within a longer one that breaks off', ['ab', `${'ab'.repeat(5)}c`], ['ab'.repeat(5)], [[0, 2], [2, 4], [4, 6], [6, 8], [8, 10]]], // biome-ignore format: one line
  ['none that overlaps', ['aba'], ['ababa'], [[0, 3]]],
  ['one that begins right behind', ['aba'], ['abaaba'], [[0, 3], [3, 6]]], // biome-ignore format: one line
  ['the shorter one behind an overlap', ['abc', 'cd', 'd'], ['abcd'], [[0, 3], [3, 4]]], // biome-ignore format: one line
])('finds %s', (_, patterns, chunks, expected) => {
  expect(ranges(patterns, chunks)).toEqual(expected);
});

test('only what may begin a match is undecided', () => {
  const scanner = new Scanner(automatonOf(patternsOf(['abcabd'])));
  scanner.read(bytes('xxabcab'));
  expect(scanner.undecidedFrom).toBe(2);
  scanner.read(bytes('c'));
  expect(scanner.undecidedFrom).toBe(5);
  scanner.read(bytes('abdx'));
  expect(scanner.undecidedFrom).toBe(12);
});

test('a last byte is one of those that are listed, and belongs to the match', () => {
  const automaton = automatonOf([{ bytes: bytes('abc'), last: [...bytes('xy')], value: 0 }]);
  expect(scan(automaton, ['abcz', 'abcy', 'abc'])).toEqual([{ pattern: 0, start: 4, end: 8 }]);
});

function randomWorld(random: Random) {
  const letters = [...'ab\xff'].slice(0, 1 + Math.floor(random.between(0, 3)));
  const times = (most: number) => Array.from({ length: 1 + Math.floor(random.between(0, most)) });
  const word = (most: number) =>
    times(most)
      .map(() => random.pick(letters))
      .join('');
  const patterns = times(8).map((_, value) => ({
    bytes: bytes(word(7)),
    value,
    ...(random.chance(0.3) && { last: [...bytes(letters.slice(0, 2).join(''))] }),
  }));
  const text = times(8)
    .map(() => (random.chance(0.5) ? random.pick(patterns).bytes.toString('latin1') : word(4)))
    .join('');
  return { patterns, text, chunks: text.match(/.{1,3}/gs) ?? [] };
}

const seed = randomSeed();

test(`matches are those of the definition, however the text is cut (seed ${seed})`, () => {
  const random = seededRandom(seed);
  for (let i = 0; i < 4000; i++) {
    const { patterns, text, chunks } = randomWorld(random);
    const found = scan(automatonOf(patterns), chunks);
    expect({ patterns, text, found }).toEqual({ patterns, text, found: naiveMatches(patterns, bytes(text)) });
  }
});

test('the same with rows that another text has made', () => {
  const random = seededRandom(seed);
  let withRows = 0;
  for (let i = 0; i < 1000; i++) {
    const { patterns, text, chunks } = randomWorld(random);
    const automaton = automatonOf(patterns);
    scan(automaton, [text.repeat(300)]);
    if (automaton.rows.next.length > 0) withRows += 1;
    const found = scan(automaton, chunks);
    expect({ patterns, text, found }).toEqual({ patterns, text, found: naiveMatches(patterns, bytes(text)) });
  }
  expect(withRows).toBeGreaterThan(0);
});

test('the same with states beyond those that have tables', () => {
  const random = seededRandom(seed);
  const word = () => Array.from({ length: 12 }, () => random.pick([...'abcd'])).join('');
  const patterns = patternsOf(Array.from({ length: 400 }, word));
  const text = Array.from({ length: 400 }, () => random.pick([word(), random.pick(patterns).bytes.toString()])).join(
    '',
  );
  const chunks = text.match(/.{1,50}/gs) ?? [];
  expect(scan(automatonOf(patterns), chunks)).toEqual(naiveMatches(patterns, bytes(text)));
});

test('the same where a text is read in large steps', () => {
  const random = seededRandom(seed);
  const word = (least: number) =>
    Array.from({ length: least + Math.floor(random.between(0, 8)) }, () => random.pick([...'abc'])).join('');
  for (let i = 0; i < 2000; i++) {
    const patterns = patternsOf(Array.from({ length: 4 }, () => word(4)));
    const parts = Array.from({ length: 8 }, () =>
      random.chance(0.4) ? random.pick(patterns).bytes.toString() : word(1),
    );
    const text = parts.join('....');
    const chunks = text.match(/.{1,17}/gs) ?? [];
    const found = scan(automatonOf(patterns), chunks);
    expect({ patterns, text, found }).toEqual({ patterns, text, found: naiveMatches(patterns, bytes(text)) });
  }
});

test('control: a search in each chunk alone misses some', () => {
  const random = seededRandom(seed);
  const worlds = Array.from({ length: 200 }, () => randomWorld(random));
  const misses = worlds.filter(({ patterns, text, chunks }) => {
    const automaton = automatonOf(patterns);
    const alone = chunks.flatMap((chunk) => scan(automaton, [chunk]));
    return alone.length < naiveMatches(patterns, bytes(text)).length;
  });
  expect(misses).not.toEqual([]);
});

/** Counts the states that are visited beyond the table of the first ones. */
function countingSteps(automaton: Automaton): () => number {
  let visits = 0;
  const rest = automaton.rest.bind(automaton);
  automaton.rest = (...args) => {
    visits += 1;
    return rest(...args);
  };
  return () => visits;
}

const long = 20_000;

test.each<[string, string[], string]>([
  ['one that breaks off late', ['a'.repeat(long), `${'a'.repeat(long)}b`, 'aaaaaa'], 'a'.repeat(3 * long)],
  ['each a beginning and an end of others', upTo(300, (i) => 'a'.repeat(6 + i)), 'a'.repeat(3 * long)],
  ['many with one beginning', upTo(500, (i) => `${'a'.repeat(40)}${i}`), 'a'.repeat(3 * long)],
  [
    'a long one full of short ones',
    ['abcdef', `${'abcdef'.repeat(long / 6)}x`],
    `${'abcdef'.repeat(long / 6)}y`.repeat(3),
  ],
  ['a period', [`${'ab'.repeat(long / 2)}c`], 'ab'.repeat((3 * long) / 2)],
  ['a period that breaks off', [`${'a'.repeat(100)}b`], `${'a'.repeat(99)}b`.repeat(600)],
])('each byte falls back once at most, on average, and each match is decided once: %s', (_, texts, text) => {
  const automaton = automatonOf(patternsOf(texts));
  const visits = countingSteps(automaton);
  const found = scan(automaton, [text]);
  expect(visits()).toBeLessThanOrEqual(text.length);
  expect(found.length).toBeLessThanOrEqual(text.length / 6);
});

test('building takes steps in proportion to the patterns', () => {
  const patterns = patternsOf([
    ...upTo(300, (i) => 'a'.repeat(6 + i)),
    `${'a'.repeat(long)}b`,
    `${'ab'.repeat(long)}c`,
  ]);
  const step = jest.spyOn(Automaton.prototype, 'rest');
  automatonOf(patterns);
  expect(step.mock.calls.length).toBeLessThanOrEqual(patterns.reduce((sum, each) => sum + each.bytes.length, 0));
});

function upTo<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}
