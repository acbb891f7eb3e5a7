import fc from 'fast-check';
import { isStorable, type Json } from './json.ts';

test.each([
  ['a NUL character', 'a\0', false],
  ['a NUL character behind a backslash', '\\\0', false],
  ['a high surrogate alone', 'a\ud83d', false],
  ['a low surrogate alone', '\udc00b', false],
  ['a NUL character in a name', { 'a\0': 1 }, false],
  ['a pair of surrogates', '😀', true],
  ['the text of an escape', '\\u0000 \\ud800', true],
  ['other control characters', '\u0001\u001f', true],
  ['nothing', '', true],
])('Postgres and %s', (_, value, isAccepted) => {
  expect(isStorable(JSON.stringify(value))).toBe(isAccepted);
});

test('what is storable is the same as where each character is looked at', () => {
  const piece = fc.constantFrom('\\', '\0', 'u0000', 'ud800', '\ud800', '\udc00', '"', '\n', 'a', '😀');
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
  const isWellFormed = (each: string) => !each.includes('\0') && each.isWellFormed();
  fc.assert(
    fc.property(text, text, (name, value) => {
      const json: Json = { [name]: value };
      expect(isStorable(JSON.stringify(json))).toBe(isWellFormed(name) && isWellFormed(value));
    }),
    { numRuns: 2_000 },
  );
});
