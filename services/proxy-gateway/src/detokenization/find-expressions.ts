import type { Pieces } from '@sluice/service-runtime';
import { readExpressions, readExpressionsInPieces } from '@sluice/vault';
import type { ContentKind } from '../http/content-type.ts';
import { kindIn } from './body-charset.ts';
import { FormTexts } from './form.ts';
import { JsonTexts } from './json.ts';
import { addPlace, mostOfWindow, opening, type Place, type TextFinder } from './place.ts';
import { isText, TextReader, type TextReading } from './text-reader.ts';

interface Finding extends TextReading {
  isWhole?: boolean;
}

/** Latin-1 keeps bytes that are not replaced as they came. Errors in a whole body name the JSON path. */
export function findExpressions(body: Buffer, kind: ContentKind, options: Finding = {}): Place[] {
  const readAs = kindIn(options.charset, kind);
  const texts = structuredTexts(body, readAs, options);
  if (texts) return placesOf(texts, options.most ?? mostOfWindow);
  return isText(readAs) ? new TextReader(readAs, options).find(body) : [];
}

/** {@link findExpressions} in pieces, because an expression with ten filters takes 20 µs. */
export function* findExpressionsInPieces(body: Buffer, kind: ContentKind, options: Finding = {}): Pieces<Place[]> {
  const readAs = kindIn(options.charset, kind);
  const texts = structuredTexts(body, readAs, options);
  if (texts) return yield* placesInPieces(texts, body.length, options.most ?? mostOfWindow);
  return isText(readAs) ? yield* new TextReader(readAs, options).findInPieces(body) : [];
}

function structuredTexts(
  body: Buffer,
  kind: ContentKind,
  { isWhole = true, charset }: Finding,
): TextFinder | undefined {
  switch (kind) {
    case 'json':
    case 'json-lines':
      return new JsonTexts(body.toString('latin1'), { isWhole, charset });
    case 'form':
      return new FormTexts(body.toString('latin1'), charset);
    default:
      return undefined;
  }
}

function placesOf(texts: TextFinder, most: number): Place[] {
  const places: Place[] = [];
  for (;;) {
    const text = texts.next(Number.POSITIVE_INFINITY);
    if (text === undefined) return places;
    addPlace(places, texts.place(readExpressions(text, most)), most);
  }
}

/** Reading this many bytes takes about a millisecond if they are expressions full of filters. */
const bytesOfPiece = 4 * 1024;

function* placesInPieces(texts: TextFinder, length: number, most: number): Pieces<Place[]> {
  const places: Place[] = [];
  let until = bytesOfPiece;
  while (texts.position < length) {
    const text = texts.next(until);
    if (text !== undefined) addPlace(places, texts.place(yield* readExpressionsInPieces(text, most)), most);
    if (texts.position < until) continue;
    until = texts.position + bytesOfPiece;
    yield;
  }
  return places;
}

const openings = [opening, '%7b', '%7B', '\\u007b', '\\u007B'].map((text) => Buffer.from(text));
const anyOpening = /\{\{|%7[bB]|\\u007[bB]/;
/** Up to this size one search in a text takes less than five in a buffer. */
const smallBody = 8 * 1024;

/** Looks for any spelling. False is certain, true is not. */
export function mayHoldExpression(body: Buffer): boolean {
  if (body.length <= smallBody) return anyOpening.test(body.toString('latin1'));
  return openings.some((opening) => body.includes(opening));
}
