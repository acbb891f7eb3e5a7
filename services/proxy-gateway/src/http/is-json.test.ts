import fc from 'fast-check';
import { isJsonInPieces } from './is-json.ts';

function isJson(text: string): boolean {
  const work = isJsonInPieces(Buffer.from(text).toString('latin1'));
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('a text is JSON exactly where JSON.parse reads it', () => {
  const part = fc.constantFrom(
    ...'[]{},: \n\u00a0'.split(''),
    ...['"a"', '"\\u00e9"', '"\\u12"', '"\\x"', '"\t"', '"é😀"', '"', '\\', '0', '-0', '01', '-', '1.5', '1.', '1e9'],
    ...['1E+', 'true', 'truex', 'false', 'null', 'nul', '"a":1', '[]', '{}', '"\u2028"', '\ufeff'],
  );
  let valid = 0;
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
        fc.json(),
        fc.tuple(fc.json({ maxDepth: 3 }), fc.nat(), part).map(([json, at, inserted]) => {
          const cut = at % (json.length + 1);
          return json.slice(0, cut) + inserted + json.slice(cut);
        }),
      ),
      (text) => {
        const isValid = parses(text);
        valid += Number(isValid);
        expect(isJson(text)).toBe(isValid);
      },
    ),
    { numRuns: 3000 },
  );
  expect(valid).toBeGreaterThan(300);
});

test('a long text is looked at in pieces, however deep it is', () => {
  const pieces = [...isJsonInPieces('['.repeat(500_000) + ']'.repeat(500_000))];
  expect(pieces.length).toBeGreaterThan(10);
  expect(isJson('['.repeat(500_000) + ']'.repeat(500_000))).toBe(true);
  expect(isJson(`${'['.repeat(500_000)}}${']'.repeat(499_999)}`)).toBe(false);
});
