import type { Pieces } from '@sluice/service-runtime';
import type { ContentKind } from '../../http/content-type.ts';
import { findExpressions, findExpressionsInPieces } from '../find-expressions.ts';
import { MultipartReader } from '../multipart/multipart-reader.ts';
import type { Place } from '../place.ts';
import { type Cutter, createCutter } from './cutter.ts';
import { formPieces } from './form-pieces.ts';
import { jsonPieces } from './json-pieces.ts';
import { cutText } from './text-cutter.ts';

export type StreamedKind = Exclude<ContentKind, 'none' | 'opaque'>;

export interface WindowReader {
  cut: Cutter;
  find(bytes: Buffer): Place[];
  findInPieces(bytes: Buffer): Pieces<Place[]>;
}

export interface ReaderOptions {
  boundary: string | undefined;
  longestPieceBytes: number;
}

export function readerFor(kind: StreamedKind, { boundary, longestPieceBytes }: ReaderOptions): WindowReader {
  const finding = {
    find: (bytes: Buffer) => findExpressions(bytes, kind, { isWhole: false }),
    findInPieces: (bytes: Buffer) => findExpressionsInPieces(bytes, kind, { isWhole: false }),
  };
  switch (kind) {
    case 'json':
      return { cut: createCutter(jsonPieces, longestPieceBytes), ...finding };
    case 'form':
      return { cut: createCutter(formPieces, longestPieceBytes), ...finding };
    case 'multipart':
      return new MultipartReader(boundary, longestPieceBytes);
    default:
      return { cut: cutText, ...finding };
  }
}

/** `{` or `[` and what can follow it in JSON. */
const jsonStart = /^[ \t\n\r]*(?:\{[ \t\n\r]*["}]|\[[ \t\n\r]*[[{"\-\d\]tfn])/;

/** Judges a body without a content type by its start. */
export function startsLikeJson(window: string): boolean {
  return jsonStart.test(window);
}
