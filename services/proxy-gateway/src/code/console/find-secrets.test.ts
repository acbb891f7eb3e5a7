import type { Pieces } from '@sluice/service-runtime';
import fc from 'fast-check';
import { secretFinder } from './find-secrets.ts';

function run<T>(work: Pieces<T>): { value: T; pieces: number } {
  for (let pieces = 1; ; pieces += 1) {
    const { done, value } = work.next();
    if (done) return { value, pieces };
  }
}

function findsIn(text: string, secrets: readonly string[]) {
  const finder = run(secretFinder(secrets)).value;
  return run(finder.findIn(text)).value.map(({ start, end }) => text.slice(start, end));
}

test('overlapping secrets are one find, and a longer one takes those within it', () => {
  expect(findsIn('xabcdefx', ['abcd', 'cdef', 'bc__'])).toEqual(['abcdef']);
  expect(findsIn('one two three', ['two ', 'one two three', 'three'])).toEqual(['one two three']);
});

test('nine characters of a beginning are found, where a text was cut, and eight are not', () => {
  expect(findsIn('12345678 x 123456789 y 2345678901', ['1234567890123'])).toEqual(['123456789']);
});

test('a secret is found in any case, and by characters of one case only where they are the same', () => {
  expect(findsIn('GEHEIM ÄÖÜ-straße', ['geheim', 'äöü-STRASSE', 'äöü-'])).toEqual(['GEHEIM', 'ÄÖÜ-']);
  expect(findsIn('\u212Aelvin', ['kelvin'])).toEqual([]); // the Kelvin sign is not a K
});

test('every place where a pattern for each secret matches is within a find', () => {
  const secret = fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom('a', 'b', 'A', '1', '-', 'é') });
  const text = fc.string({ maxLength: 60, unit: fc.constantFrom('a', 'b', 'A', '1', '-', 'É', ' ') });
  fc.assert(
    fc.property(fc.array(secret, { maxLength: 8 }), text, (secrets, printed) => {
      const found = run(run(secretFinder(secrets)).value.findIn(printed)).value;
      const expected = new Set<number>();
      for (const each of secrets) {
        const edge = each.length < 4;
        const pattern = new RegExp(
          `${edge ? '(?<![0-9A-Za-z])' : ''}(?=(${each})${edge ? '(?![0-9A-Za-z])' : ''})`,
          'gi',
        );
        for (const { index } of printed.matchAll(pattern)) {
          for (let at = index; at < index + each.length; at += 1) expected.add(at);
        }
      }
      const marked = new Set(
        found.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i)),
      );
      expect([...marked].sort((a, b) => a - b)).toEqual([...expected].sort((a, b) => a - b));
    }),
    { numRuns: 500 },
  );
});

test('no piece of the work has more than a few thousand characters', () => {
  const secrets = Array.from({ length: 1300 }, (_, at) => `s${at}x`);
  const built = run(secretFinder(secrets));
  expect(built.pieces).toBeGreaterThan(1);
  expect(run(built.value.findIn('x'.repeat(16_384))).pieces).toBeGreaterThanOrEqual(4);
});

test('a text that is the beginning of a long secret at every place is read once, and is one find', () => {
  const secret = `${'a'.repeat(8_000)}b`;
  const steps = run(run(secretFinder([secret])).value.findIn('a'.repeat(200_000)));
  expect(steps.value).toEqual([{ start: 0, end: 200_000 }]);
});
