import type { Pieces } from '@sluice/service-runtime';
import { fillPlaces, filterInPieces } from './detokenize.ts';
import { findExpressions, findExpressionsInPieces } from './find-expressions.ts';
import { findInMultipart, findInMultipartInPieces } from './multipart/multipart-reader.ts';
import type { Place } from './place.ts';

const texts = Array.from({ length: 300 }, (_, at) => `é {{ x | slice: ${at % 7}, 2 | append: '&"' }}{{x}}${at}`);
const multipart = texts.map((text) => `--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n${text}\r\n`).join('');
const boundary = 'B';
const bodies = {
  json: JSON.stringify(texts),
  form: new URLSearchParams(texts.map((text) => ['a', text])).toString(),
  xml: texts.join(),
  text: texts.join(),
};
const filling = { values: new Map([['x', 'value <"&']]), limitBytes: 2 ** 20 };

function run<T>(work: Pieces<T>): { result: T; pieces: number } {
  for (let pieces = 1; ; pieces += 1) {
    const { done, value } = work.next();
    if (done) return { result: value, pieces };
  }
}

test.each<[string, string, (body: Buffer) => Place[], (body: Buffer) => Pieces<Place[]>]>([
  ...(['json', 'form', 'xml', 'text'] as const).map(
    (kind): [string, string, (body: Buffer) => Place[], (body: Buffer) => Pieces<Place[]>] => [
      kind,
      bodies[kind],
      (body) => findExpressions(body, kind),
      (body) => findExpressionsInPieces(body, kind),
    ],
  ),
  [
    'multipart',
    `${multipart}--B--\r\n`,
    (body) => findInMultipart(body, boundary),
    (body) => findInMultipartInPieces(body, boundary),
  ],
])('a %s body filled in pieces comes to what it does at once', (_, text, find, findInPieces) => {
  const body = Buffer.from(text);
  const found = run(findInPieces(body));
  expect(found.pieces).toBeGreaterThan(3);
  const filtered = run(filterInPieces(found.result, filling));
  expect(filtered.pieces).toBeGreaterThan(3);
  const filled = fillPlaces(body, found.result, { ...filling, filtered: filtered.result }).toString();
  expect(filled).toBe(fillPlaces(body, find(body), filling).toString());
  expect(filled).not.toContain('{{');
});
