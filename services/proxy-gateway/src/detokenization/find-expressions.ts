import type { Pieces } from '@sluice/service-runtime';
import { readExpressions, readExpressionsInPieces } from '@sluice/vault';
import type { ContentKind } from '../http/content-type.ts';
import { encodingFault, refuseFirst } from './encoding.ts';
import { FormTexts } from './form.ts';
import { JsonTexts } from './json.ts';
import { addPlace, malformedBody, mostOfWindow, opening, type Place, quoted, type TextFinder } from './place.ts';
import { placesInText } from './text.ts';

export interface Finding {
  /** Errors in a whole body name the JSON path. */
  isWhole?: boolean;
  most?: number;
  /** The charset that the body declares, if it is another than UTF-8. */
  charset?: string | undefined;
}

/** Latin-1 keeps bytes that are not replaced as they came. */
export function findExpressions(
  body: Buffer,
  kind: ContentKind,
  { isWhole = true, most = mostOfWindow, charset }: Finding = {},
): Place[] {
  const fault = () => encodingFault(body, { kind, isWhole, charset });
  switch (kind) {
    case 'json':
      return placesOf(new JsonTexts(body.toString('latin1'), isWhole), { most, charset, fault });
    case 'form':
      return placesOf(new FormTexts(body.toString('latin1')), { most, charset, fault });
    case 'xml':
    case 'text': {
      const text = body.toString(); // what is not UTF-8 is refused, so its wrong positions are not used
      if (!text.includes(opening)) return [];
      const segments = readExpressions(text, most);
      refuseFirst(segments, fault());
      return placesInText(text, kind, segments);
    }
    default:
      return [];
  }
}

/** {@link findExpressions} in pieces, because an expression with ten filters takes 20 µs. */
export function* findExpressionsInPieces(
  body: Buffer,
  kind: ContentKind,
  { isWhole = true, most = mostOfWindow, charset }: Finding = {},
): Pieces<Place[]> {
  const fault = () => encodingFault(body, { kind, isWhole, charset });
  switch (kind) {
    case 'json':
      return yield* placesInPieces(new JsonTexts(body.toString('latin1'), isWhole), body.length, {
        most,
        charset,
        fault,
      });
    case 'form':
      return yield* placesInPieces(new FormTexts(body.toString('latin1')), body.length, { most, charset, fault });
    case 'xml':
    case 'text': {
      const text = body.toString();
      if (!text.includes(opening)) return [];
      const segments = yield* readExpressionsInPieces(text, most);
      refuseFirst(segments, fault());
      return placesInText(text, kind, segments);
    }
    default:
      return [];
  }
}

interface Reading {
  most: number;
  charset: string | undefined;
  /** Asked only once there is an expression. */
  fault(): string | undefined;
}

/** Bytes of other charsets may look like the backslash of JSON. */
function nextText(texts: TextFinder, until: number, charset: string | undefined): string | undefined {
  try {
    return texts.next(until);
  } catch (error) {
    throw charset === undefined ? error : malformedBody(`UTF-8: it declares the charset ${quoted(charset)}`);
  }
}

function placesOf(texts: TextFinder, { most, charset, fault }: Reading): Place[] {
  const places: Place[] = [];
  for (;;) {
    const text = nextText(texts, Number.POSITIVE_INFINITY, charset);
    if (text === undefined) return places;
    const segments = readExpressions(text, most);
    if (places.length === 0) refuseFirst(segments, fault());
    addPlace(places, texts.place(segments), most);
  }
}

/** Reading this many bytes takes about a millisecond if they are expressions full of filters. */
const bytesOfPiece = 4 * 1024;

function* placesInPieces(texts: TextFinder, length: number, { most, charset, fault }: Reading): Pieces<Place[]> {
  const places: Place[] = [];
  let until = bytesOfPiece;
  while (texts.position < length) {
    const text = nextText(texts, until, charset);
    if (text !== undefined) {
      const segments = yield* readExpressionsInPieces(text, most);
      if (places.length === 0) refuseFirst(segments, fault());
      addPlace(places, texts.place(segments), most);
    }
    if (texts.position < until) continue;
    until = texts.position + bytesOfPiece;
    yield;
  }
  return places;
}

const openings = [opening, '%7b', '%7B', '\\u007b', '\\u007B'].map((text) => Buffer.from(text));

/** Looks for any spelling. False is certain, true is not. */
export function mayHoldExpression(body: Buffer): boolean {
  return openings.some((opening) => body.includes(opening));
}
