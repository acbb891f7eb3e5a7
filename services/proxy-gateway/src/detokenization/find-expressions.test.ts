import { slow } from '@sluice/testing';
import fc from 'fast-check';
import { faultInPlaces } from './detokenize.ts';
import { findExpressions, mayHoldExpression } from './find-expressions.ts';
import type { Place } from './place.ts';

function fill(body: Buffer, places: readonly Place[], value: string): string {
  let filled = Buffer.alloc(0);
  let position = 0;
  for (const place of places) {
    filled = Buffer.concat([filled, body.subarray(position, place.start), Buffer.from(place.write(() => value))]);
    position = place.end;
  }
  return Buffer.concat([filled, body.subarray(position)]).toString();
}

function check(text: string, options?: { isWhole: boolean }): void {
  const fault = faultInPlaces(findExpressions(Buffer.from(text), 'json', options));
  if (fault) throw fault;
}

function replaceIn(value: unknown, from: string, to: string): unknown {
  if (typeof value === 'string') return value.replaceAll(from, () => to);
  if (Array.isArray(value)) return value.map((item) => replaceIn(item, from, to));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceIn(member, from, to)]));
}

const plainText = fc.string({ unit: 'grapheme' }).filter((text) => !/[{}]/.test(text));
const text = fc.tuple(plainText, fc.boolean(), plainText).map(([a, has, b]) => (has ? `${a}{{tok}}${b}` : a + b));
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constant(null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(text, tie('value'), { maxKeys: 4 }),
})).value;

describe('in JSON', () => {
  test('every string value is filled with the value in its escaping, every name stays, whatever the indentation', () => {
    fc.assert(
      fc.property(json, plainText, fc.nat({ max: 4 }), (value, secret, indentation) => {
        const body = Buffer.from(JSON.stringify(value, null, indentation));
        const filled = fill(body, findExpressions(body, 'json'), secret);
        expect(JSON.parse(filled)).toEqual(replaceIn(JSON.parse(body.toString()), '{{tok}}', secret));
      }),
      { numRuns: 500 },
    );
  });

  slow('1.4 s')('no value that is put in can end its string or start another member', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (secret) => {
        const body = Buffer.from('{"a":"<{{tok}}>","b":1}');
        expect(JSON.parse(fill(body, findExpressions(body, 'json'), secret))).toEqual({
          a: `<${secret}>`.toWellFormed(),
          b: 1,
        });
      }),
    );
  });

  test('a body without an expression has no places, and is told apart without being read', () => {
    const body = Buffer.from('{"a":{"b":{"c":[{}]}},"d":"}}{"}');
    expect(mayHoldExpression(body)).toBe(false);
    expect(findExpressions(body, 'json')).toEqual([]);
  });

  test.each(['{"a":"\\u007B{tok}}"}', '{"a":"{\\u007btok}}"}', '{"a":"\\u007b\\u007btok\\u007d\\u007d"}'])(
    'an escaped spelling is found: %s',
    (spelled) => {
      const body = Buffer.from(spelled);
      expect(mayHoldExpression(body)).toBe(true);
      expect(fill(body, findExpressions(body, 'json'), 'x')).toBe('{"a":"x"}');
    },
  );

  test.each(['{{tok}}', '\\u007b{tok}}'])('beside %s, strings without expressions are not looked into', (spelled) => {
    const body = Buffer.from(`{"a":"${spelled}","b":"\\x","c":"\n"}`);
    expect(fill(body, findExpressions(body, 'json'), 'x')).toBe('{"a":"x","b":"\\x","c":"\n"}');
  });

  test.each(['a', '\\\\', '\\"', '\\u00e9'])('a string of megabytes of %s is read', (piece) => {
    const body = Buffer.from(`{"a":"${piece.repeat((5 * 1024 * 1024) / piece.length)}{{tok}}"}`);
    expect(findExpressions(body, 'json')).toHaveLength(1);
  });

  test.each([
    ['{"card":{"number":"{{}}"}}', 'The expression at character 0 of $.card.number is not valid: it is empty'],
    ['{"a":[{"b":1},["x", "4 {{tok"]]}', 'The expression at character 2 of $.a[1][1] is not valid: it is not closed'],
    [
      '{"a":{},"b c":"{{tok | nothing}}"}',
      "The expression at character 0 of $['b c'] is not valid: there is no filter",
    ],
    ['"{{ }}"', 'The expression at character 0 of $ is not valid'],
    ['{"\\u0061":["\\"",",:[",{"b":"{{}}"}]}', 'The expression at character 0 of $.a[2].b is not valid'],
    ['{"a":[0,{{tok}}]}', 'The body is not valid JSON: the expression at $.a[1] must be inside a string'],
    [`${'['.repeat(100_000)}"{{}}"`, `The expression at character 0 of $${'[0]'.repeat(66)}[…`],
  ])('an error names the path: %s', (text, expected) => {
    expect(() => check(text)).toThrow(expected);
  });

  test.each([
    ['"x":"{{}}"}', 'of the member "x"'],
    ['"\\"a\\\\" :\n "{{}}"', 'of the member "\\"a\\\\"'],
    ['"a","{{}}"]', 'of a string'],
    [':"{{}}"}', 'of a string'],
  ])('in a part of a body no path is known; an error names the member where it is there: %s', (text, where) => {
    expect(() => check(text, { isWhole: false })).toThrow(`The expression at character 0 ${where} is not valid`);
  });

  test('each line of NDJSON is a text of its own', () => {
    const body = Buffer.from('{"a":"{{tok}}"}\n{"a":"{{tok}}"}\n');
    expect(fill(body, findExpressions(body, 'json'), 'x')).toBe('{"a":"x"}\n{"a":"x"}\n');
  });
});

describe('in forms', () => {
  test('every value is filled in its encoding, names and other pairs stay byte for byte', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 5 }), plainText, (pairs, secret) => {
        const body = Buffer.from(new URLSearchParams(pairs).toString());
        const filled = fill(body, findExpressions(body, 'form'), secret);
        const expected = pairs.map(([name, value]) => [name, value.replaceAll('{{tok}}', () => secret)]);
        expect([...new URLSearchParams(filled)]).toEqual([...new URLSearchParams(expected)]);
      }),
    );
  });

  test.each([true, false])('an error names the field: isWhole %s', (isWhole) => {
    const [place] = findExpressions(Buffer.from('a=1&b+%C3%A9=%7B%7B%7D%7D'), 'form', { isWhole });
    expect(place?.fault?.()?.message).toContain('at character 0 of the field "b é" is not valid: it is empty');
  });

  test.each([
    ['a&b=%7B%7Btok%7D%7D', 'a&b=x'],
    ['a=1&&=%7b%7btok%7d%7d', 'a=1&&=x'],
    ['a=b=c{{tok}}', 'a=b%3Dcx'],
  ])('%s becomes %s', (sent, expected) => {
    const body = Buffer.from(sent);
    expect(fill(body, findExpressions(body, 'form'), 'x')).toBe(expected);
  });
});

describe('in text', () => {
  test('everything around an expression stays, in any language', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), plainText, (parts, secret) => {
        const body = Buffer.from(parts.join(' '));
        expect(fill(body, findExpressions(body, 'text'), secret)).toBe(
          body.toString().replaceAll('{{tok}}', () => secret),
        );
      }),
    );
  });

  test('bytes that are not UTF-8 stay', () => {
    const body = Buffer.from([0xe9, ...Buffer.from('{{tok}}'), 0xff]);
    const [place] = findExpressions(body, 'text');
    expect([place?.start, place?.end]).toEqual([1, 8]);
  });
});

test.each(['opaque', 'none'] as const)('%s bodies have no places', (kind) => {
  expect(findExpressions(Buffer.from('"{{tok}}"'), kind)).toEqual([]);
});
