import type { Charset } from '@sluice/sandbox';
import type { Pieces } from '@sluice/service-runtime';
import { expressionsOfPiece } from '@sluice/vault';
import { findExpressions, findExpressionsInPieces } from '../find-expressions.ts';
import { mostOfWindow, type Place, tooManyPlaces } from '../place.ts';
import type { Cut } from '../stream/cutter.ts';
import { DelimiterFinder } from './delimiter.ts';
import { fieldPlace } from './field-place.ts';
import { type FieldKind, ofOtherCharset, partCharset } from './part-header.ts';
import { type Field, MultipartScanner, uncertainPart } from './scanner.ts';

export class MultipartReader {
  readonly #scanner: MultipartScanner;
  readonly #finder: DelimiterFinder;
  #fields: readonly Field[] = [];
  readonly #most: number;

  /** Without a boundary (see {@link boundaryOf}) an expression anywhere in the body is an error. */
  constructor(boundary: string | undefined, longestFieldBytes: number, most = mostOfWindow) {
    this.#most = most;
    this.#scanner = new MultipartScanner(boundary, longestFieldBytes);
    this.#finder = new DelimiterFinder(boundary ?? '');
  }

  cut(window: string, isLast: boolean): Cut {
    const { end, fields } = this.#scanner.scan(window, isLast);
    this.#fields = fields;
    return { passes: 0, end };
  }

  find(bytes: Buffer): Place[] {
    const found: Place[] = [];
    let count = 0;
    for (const { start, end, name, kind, type } of this.#fields) {
      const content = bytes.subarray(start, end);
      const places = findExpressions(content, kind, { most: this.#most, charset: charsetOfPart(kind, type, content) });
      count += places.length;
      if (count > this.#most) throw tooManyPlaces(this.#most);
      if (places.length > 0) found.push(fieldPlace({ start, name, content, places }, this.#finder));
    }
    return found;
  }

  *findInPieces(bytes: Buffer): Pieces<Place[]> {
    const found: Place[] = [];
    let count = 0;
    for (const { start, end, name, kind, type } of this.#fields) {
      const content = bytes.subarray(start, end);
      const places = yield* findExpressionsInPieces(content, kind, {
        most: this.#most,
        charset: charsetOfPart(kind, type, content),
      });
      count += places.length;
      if (count > this.#most) throw tooManyPlaces(this.#most);
      if (places.length === 0) continue;
      found.push(fieldPlace({ start, name, content, places }, this.#finder));
      if (found.length % expressionsOfPiece === 0) yield;
    }
    return found;
  }
}

export function findInMultipart(body: Buffer, boundary: string | undefined, most = mostOfWindow): Place[] {
  return readerOf(body, boundary, most).find(body);
}

export function findInMultipartInPieces(
  body: Buffer,
  boundary: string | undefined,
  most = mostOfWindow,
): Pieces<Place[]> {
  return readerOf(body, boundary, most).findInPieces(body);
}

/** The content may have a byte order mark, or declare its charset. @throws {ServiceError} 415 */
function charsetOfPart(kind: FieldKind, type: string | undefined, content: Buffer): Charset {
  const charset = partCharset(kind, type, content);
  if (!charset) throw uncertainPart(ofOtherCharset);
  return charset;
}

function readerOf(body: Buffer, boundary: string | undefined, most = mostOfWindow): MultipartReader {
  const reader = new MultipartReader(boundary, Number.POSITIVE_INFINITY, most);
  reader.cut(body.toString('latin1'), true);
  return reader;
}
