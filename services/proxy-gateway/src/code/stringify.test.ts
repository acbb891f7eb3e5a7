import fc from 'fast-check';
import { stringifyInPieces } from './stringify.ts';

function run(value: unknown): { text: string; pieces: number } {
  const work = stringifyInPieces(value);
  for (let pieces = 1; ; pieces += 1) {
    const step = work.next();
    if (step.done) return { text: step.value, pieces };
  }
}

const large: [string, unknown][] = [
  ['an array of empty arrays', Array(50_000).fill([])],
  ['an object of many members', Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`"${at}`, at]))],
  [
    'large parts in a small one',
    { a: [Array(9000).fill(1), undefined, { b: Array(9000).fill({ c: undefined }) }], d: undefined },
  ],
  ['long texts', Array(30).fill('"x'.repeat(100_000))],
  [
    'deep',
    Array.from({ length: 400 }).reduce(
      (inner) => [
        Array(50)
          .fill(inner ?? null)
          .slice(0, 1),
        ...Array(20).fill(0),
      ],
      0,
    ),
  ],
];

test.each(large)('%s is written in pieces, as JSON.stringify writes it', (_, value) => {
  const { text, pieces } = run(value);
  expect(text === JSON.stringify(value)).toBe(true);
  expect(pieces).toBeGreaterThan(4);
});

test('a small value is written at once', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      expect(run(value)).toEqual({ text: JSON.stringify(value), pieces: 1 });
    }),
  );
  expect(run({ at: new Date(0), b: undefined })).toEqual({ text: '{"at":"1970-01-01T00:00:00.000Z"}', pieces: 1 });
});
