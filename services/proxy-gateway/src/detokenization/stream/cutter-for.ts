import type { ContentKind } from '../../http/content-type.ts';
import { type Cutter, createCutter } from './cutter.ts';
import { formPieces } from './form-pieces.ts';
import { jsonPieces } from './json-pieces.ts';
import { cutText } from './text-cutter.ts';

export type StreamedKind = Exclude<ContentKind, 'none' | 'opaque'>;

/** How a body of this kind is cut into parts that can be read on their own. */
export function cutterFor(kind: StreamedKind, longestPieceBytes: number): Cutter {
  switch (kind) {
    case 'json':
      return createCutter(jsonPieces, longestPieceBytes);
    case 'form':
      return createCutter(formPieces, longestPieceBytes);
    default:
      return cutText;
  }
}

/** `{` or `[` and what can follow it in JSON. */
const jsonStart = /^[ \t\n\r]*(?:\{[ \t\n\r]*["}]|\[[ \t\n\r]*[[{"\-\d\]tfn])/;

/** Whether a body without content type, of which only the start is known, is read as JSON. */
export function startsLikeJson(window: string): boolean {
  return jsonStart.test(window);
}
