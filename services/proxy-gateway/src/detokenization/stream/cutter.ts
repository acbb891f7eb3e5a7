import { ServiceError } from '@sluice/problems';

export interface Cut {
  /** Number of bytes at its start that are passed on unread. */
  passes: number;
  /** Up to here no string, pair or expression is cut in two. The rest needs more of the body. */
  end: number;
}

/** Each window starts with the rest of the previous one. */
export type Cutter = (window: string, isLast: boolean) => Cut;

/** A format as pieces that must be read whole, such as string literals or pairs. */
export interface Pieces {
  /** Where the last whole piece ends; 0 if the window is a part of one piece. */
  lastBorder(window: string): number;
  /** Where the piece ends that began in an earlier window; -1 if it does not end in this one. */
  endOfPiece(window: string): number;
  holdsOpening(part: string): boolean;
  /** Bytes that can pass without cutting an escape or an opening in two, if the window is a part of one piece. */
  passable(window: string): number;
}

export function cutterOf(pieces: Pieces, longestPieceBytes: number): Cutter {
  let isWithinPiece = false;

  function passOn(part: string, passes: number): Cut {
    if (pieces.holdsOpening(part)) throw pieceTooLong(longestPieceBytes);
    return { passes, end: passes };
  }

  return (window, isLast) => {
    let passes = 0;
    if (isWithinPiece) {
      const end = pieces.endOfPiece(window);
      if (end === -1) return passOn(window, isLast ? window.length : pieces.passable(window));
      ({ passes } = passOn(window.slice(0, end), end));
      isWithinPiece = false;
    }
    if (isLast) return { passes, end: window.length };
    if (passes > 0) return { passes, end: passes + pieces.lastBorder(window.slice(passes)) };
    const border = pieces.lastBorder(window);
    if (border > 0 || window.length <= longestPieceBytes) return { passes, end: border };
    const passable = pieces.passable(window);
    isWithinPiece = passable > 0;
    return passOn(window, passable);
  };
}

function pieceTooLong(bytes: number): ServiceError {
  const detail = `A body of this size is streamed, so a value with an expression may have at most ${bytes} bytes`;
  return new ServiceError('payload_too_large', detail, { limit: 'field_size' });
}
