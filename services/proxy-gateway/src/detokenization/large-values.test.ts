import { slow } from '@sluice/testing';
import type { Json } from '@sluice/vault';
import { fillPlaces } from './detokenize.ts';
import { findExpressions } from './find-expressions.ts';

/** A small body can name a large value 10,000 times, so readings of the value are counted. */
const limitBytes = 5 * 2 ** 20;
const large = 'x'.repeat(2 ** 20);

function counted(text: string): { value: Json; readings: () => number } {
  let readings = 0;
  const value = {
    get text() {
      readings += 1;
      return text;
    },
  };
  return { value, readings: () => readings };
}

const bodies: [kind: 'json' | 'form' | 'text', write: (expressions: string[]) => string][] = [
  ['json', (expressions) => JSON.stringify(expressions)],
  ['json', (expressions) => JSON.stringify(expressions.join(''))],
  ['form', (expressions) => `a=${expressions.join('')}`],
  ['text', (expressions) => expressions.join('')],
];

function fill(kind: 'json' | 'form' | 'text', text: string, value: Json): Buffer {
  const body = Buffer.from(text);
  return fillPlaces(body, findExpressions(body, kind), { values: new Map([['abc', value]]), limitBytes });
}

test.each(bodies)('%s: a value that does not fit is written no oftener than it would', (kind, write) => {
  const { value, readings } = counted(large);
  const text = write(Array(10_000).fill('{{ abc }}'));
  expect(() => fill(kind, text, value)).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
  expect(readings()).toBeLessThan(20);
});

slow('0.5 s').each(bodies)(
  '%s: what filters make of it neither, and they give nothing where it would not fit',
  (kind, write) => {
    for (const filter of ['json: "$"', 'stringify', 'to_string', 'append: "a" | append: "b"']) {
      const { value, readings } = counted(large);
      const filled = fill(kind, write(Array(10_000).fill(`{{ abc | ${filter} }}`)), value);
      expect(filled.length).toBeLessThanOrEqual(limitBytes);
      expect(readings()).toBeLessThan(50);
    }
  },
);

test.each(bodies)('the control, %s: a small value is written everywhere', (kind, write) => {
  const { value, readings } = counted('x');
  fill(kind, write(Array(10_000).fill('{{ abc }}')), value);
  expect(readings()).toBeGreaterThanOrEqual(10_000);
});

test('a place in a large value is found as often as a small body asks for it', () => {
  const value = { number: '4242', rest: large };
  const filled = fill('json', JSON.stringify(Array(1000).fill('{{ abc | json: "$.number" }}')), value);
  expect(JSON.parse(filled.toString())).toEqual(Array(1000).fill('4242'));
});
