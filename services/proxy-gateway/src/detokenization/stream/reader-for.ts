import type { Charset } from '@sluice/sandbox';
import type { Pieces } from '@sluice/service-runtime';
import type { ContentKind } from '../../http/content-type.ts';
import { kindIn } from '../body-charset.ts';
import { findExpressions, findExpressionsInPieces } from '../find-expressions.ts';
import { MultipartReader } from '../multipart/multipart-reader.ts';
import type { Place } from '../place.ts';
import { isText, TextReader } from '../text-reader.ts';
import { type Cut, cutterOf } from './cutter.ts';
import { formPieces } from './form-pieces.ts';
import { jsonPieces } from './json-pieces.ts';

export type StreamedKind = Exclude<ContentKind, 'none' | 'opaque'>;

export interface WindowReader {
  cut(window: string, isLast: boolean): Cut;
  find(bytes: Buffer): Place[];
  findInPieces(bytes: Buffer): Pieces<Place[]>;
}

export interface ReaderOptions {
  boundary: string | undefined;
  charset: Charset | undefined;
  longestPieceBytes: number;
}

export function readerFor(kind: StreamedKind, { boundary, charset, longestPieceBytes }: ReaderOptions): WindowReader {
  const options = { isWhole: false, charset };
  const finding = {
    find: (bytes: Buffer) => findExpressions(bytes, kind, options),
    findInPieces: (bytes: Buffer) => findExpressionsInPieces(bytes, kind, options),
  };
  const readAs = kindIn(charset, kind);
  if (isText(readAs)) return new TextReader(readAs, { charset });
  switch (kind) {
    case 'json':
    case 'json-lines':
      return { cut: cutterOf(jsonPieces, longestPieceBytes), ...finding };
    case 'form':
      return { cut: cutterOf(formPieces, longestPieceBytes), ...finding };
    default:
      return new MultipartReader(boundary, longestPieceBytes);
  }
}

/** A byte order mark, `{` or `[`, and what can follow it in JSON. */
const jsonStart = /^(?:\xef\xbb\xbf)?[ \t\n\r]*(?:\{[ \t\n\r]*["}]|\[[ \t\n\r]*[[{"\-\d\]tfn])/;

/** Nothing yet that JSON could not start with. */
const undecided = /^(?:\xef\xbb?|(?:\xef\xbb\xbf)?[ \t\n\r]*(?:[[{][ \t\n\r]*)?)$/;

/** Returns true as long as more bytes may make it JSON. */
export function mayStartLikeJson(start: string): boolean {
  return undecided.test(start);
}

/** Judges a body without a content type by its start. */
export function startsLikeJson(window: string): boolean {
  return jsonStart.test(window);
}
