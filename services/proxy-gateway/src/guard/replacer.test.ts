import { type Random, randomSeed, seededRandom } from '@sluice/testing';
import { automatonOf, naiveMatches, run } from '../testing/naive-matches.ts';
import type { Automaton } from './automaton.ts';
import { isOfBase64 } from './base64-forms.ts';
import { formsOf, patternsOf } from './forms.ts';
import type { Pattern } from './pattern.ts';
import { Replacer } from './replacer.ts';

const label = (value: number) => Buffer.from(`{{ ${value} }}`);

function replaced(automaton: Automaton, chunks: readonly Buffer[]): string {
  const replacer = new Replacer(automaton, label);
  return Buffer.concat([...chunks.map((chunk) => replacer.read(chunk)), replacer.end()]).toString('latin1');
}

/** Over the whole text at once. */
function naivelyReplaced(patterns: readonly Pattern[], text: Buffer): string {
  let written = '';
  let from = 0;
  for (const { pattern, start, end } of naiveMatches(patterns, text)) {
    const { value, hasHead } = patterns[pattern] as Pattern;
    const begins = hasHead && start > from && isOfBase64(text[start - 1]) ? start - 1 : start;
    written += text.toString('latin1', from, begins) + label(value);
    from = end;
  }
  return written + text.toString('latin1', from);
}

const seed = randomSeed();

function randomWorld(random: Random) {
  const letters = [...'ab/ é1"'];
  const times = <T>(least: number, most: number, make: () => T) =>
    Array.from({ length: Math.floor(random.between(least, most + 1)) }, make);
  const values = times(1, 4, () => {
    const kept = times(1, 3, () => random.pick(letters));
    return times(6, 12, () => random.pick(kept)).join('');
  });
  const patterns = run(patternsOf(values));
  const written = () => {
    const value = random.pick(values);
    const before = times(0, 3, () => random.pick(letters)).join('');
    const inBase64 = Buffer.from(before + value + random.pick(values)).toString(random.pick(['base64', 'base64url']));
    const { bytes } = random.pick([...formsOf(value)]);
    const broken = bytes.subarray(0, Math.floor(random.between(0, bytes.length)));
    return random.pick([bytes, broken, Buffer.from(inBase64), Buffer.from(before)]);
  };
  const text = Buffer.concat(times(1, 8, written));
  const chunks: Buffer[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + Math.floor(random.between(1, random.chance(0.5) ? 4 : 40));
    chunks.push(text.subarray(at, end));
    at = end;
  }
  return { values, patterns, text, chunks };
}

test(`random values in random forms are replaced as in the whole text, however it is cut (seed ${seed})`, () => {
  const random = seededRandom(seed);
  for (let i = 0; i < 300; i++) {
    const { values, patterns, text, chunks } = randomWorld(random);
    const world = { values, text: text.toString('latin1'), sizes: chunks.map(({ length }) => length) };
    const given = replaced(automatonOf(patterns), chunks);
    expect({ ...world, given }).toEqual({ ...world, given: naivelyReplaced(patterns, text) });
  }
});

test('control: a guard that looks at each chunk alone leaves values in the text', () => {
  const random = seededRandom(seed);
  const worlds = Array.from({ length: 50 }, () => randomWorld(random));
  const caught = worlds.filter(({ patterns, text, chunks }) => {
    const automaton = automatonOf(patterns);
    const alone = chunks.map((chunk) => replaced(automaton, [chunk])).join('');
    return alone !== naivelyReplaced(patterns, text);
  });
  expect(caught).not.toEqual([]);
});

const one = automatonOf(run(patternsOf(['secret-value'])));

test.each<[string, string, string]>([
  ['what begins no match', 'data: hello.\n\n', 'data: hello.\n\n'],
  ['what stands before a beginning', 'data: "secret-', 'data: "'],
  ['but for a character that base64 may share', 'data: hello', 'data: hell'],
  ['a match, once the next byte has come', 'secret-value\n', '{{ 0 }}\n'],
])('gives %s at once', (_, chunk, given) => {
  expect(new Replacer(one, label).read(Buffer.from(chunk)).toString()).toBe(given);
});

test('a chunk without a match is given without a copy', () => {
  const chunk = Buffer.from('nothing to see here.');
  expect(new Replacer(one, label).read(chunk).buffer).toBe(chunk.buffer);
});

test('two values that follow each other in one base64 text are both found', () => {
  const automaton = automatonOf(run(patternsOf(['first-value', 'second-value'])));
  const text = Buffer.from(`"${Buffer.from('first-valuesecond-value').toString('base64')}"`);
  expect(replaced(automaton, [text])).toBe('"{{ 0 }}{{ 1 }}="');
});
