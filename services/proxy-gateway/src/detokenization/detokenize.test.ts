import type { Json } from '@sluice/vault';
import { fillPlaces } from './detokenize.ts';
import { findExpressions } from './find-expressions.ts';

const fill = (text: string, value: Json, limitBytes: number) => {
  const body = Buffer.from(text);
  return fillPlaces(body, findExpressions(body, 'json'), { values: new Map([['abc', value]]), limitBytes }).toString();
};

describe('the limit is that of the bytes that result', () => {
  test.each<[what: string, body: string, value: Json, expected: string]>([
    ['characters of several bytes', '["{{abc}}"]', 'é€😀', '["é€😀"]'],
    ['a value that is shorter than its expression', '["{{ abc }}"]', 'v', '["v"]'],
    ['an expression that is shorter than its value', '["{{abc}}", "ü"]', 'x'.repeat(50), `["${'x'.repeat(50)}", "ü"]`],
    [
      'a long value before short ones',
      '["{{abc}}",  "-{{  abc  }}-"]',
      'long value',
      '["long value",  "-long value-"]',
    ],
    ['nothing in the place of all there is', '"{{abc}}"', '', '""'],
    ['half of a character', '["{{abc}}"]', '\ud800', '["\\ud800"]'],
  ])('%s', (_, body, value, expected) => {
    const bytes = Buffer.byteLength(expected);
    expect(fill(body, value, bytes)).toBe(expected);
    expect(() => fill(body, value, bytes - 1)).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
  });
});
