import { ServiceError } from '@sluice/problems';

/** What can be done with a window, a part of a body read as Latin-1, before more of the body is known. */
export interface Cut {
  /** So many bytes at its start pass as they are, unread. */
  passes: number;
  /** From there up to here nothing is cut in two: no string, no pair, no expression. What follows waits for more. */
  end: number;
}

/** Called for one window after the other; each starts with what the one before left. */
export type Cutter = (window: string, isLast: boolean) => Cut;

/** How a format is made of pieces that have to be read whole: string literals, pairs. */
export interface Pieces {
  /** The position behind the last piece that is whole; 0 where the window is one piece that is not. */
  lastBorder(window: string): number;
  /** For a window that starts within a piece: the position behind that piece, -1 if its end is not here. */
  endOfPiece(window: string): number;
  /** Whether a piece, or a part of it, has the opening of an expression in any spelling. */
  holdsOpening(part: string): boolean;
  /** How much of the window, all of it one piece, can pass without cutting an escape or a possible opening in two. */
  passable(window: string): number;
}

/**
 * Cuts behind whole pieces. One that gets longer than `longestPieceBytes` passes unread from then on, as long as no
 * expression opens in it.
 * @throws {ServiceError} `payload_too_large` for an expression within such a piece.
 */
export function createCutter(pieces: Pieces, longestPieceBytes: number): Cutter {
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
  const detail = `In a body of this size a value that holds an expression may have at most ${bytes} bytes`;
  return new ServiceError('payload_too_large', detail);
}
