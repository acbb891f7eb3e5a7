import { ServiceError } from '@sluice/problems';

/**
 * How much of a window can be processed before more of the body has come. A window is a part of a body as Latin-1 text.
 */
export interface Cut {
  /** Number of bytes at its start that pass unread. */
  passes: number;
  /** From there up to here no string, pair or expression is cut in two. The rest waits for more of the body. */
  end: number;
}

/** Called for one window after another. Each starts with the rest of the previous one. */
export type Cutter = (window: string, isLast: boolean) => Cut;

/** How a format consists of pieces that must be read whole, such as string literals or pairs. */
export interface Pieces {
  /** The position behind the last whole piece; 0 if the window is a part of one piece. */
  lastBorder(window: string): number;
  /**
   * For a window that starts within a piece: the position behind that piece; -1 if the window does not hold its end.
   */
  endOfPiece(window: string): number;
  /** Whether a piece, or a part of it, holds the opening of an expression in any spelling. */
  holdsOpening(part: string): boolean;
  /**
   * For a window that is a part of one piece: how many of its bytes can pass without cutting an escape or an opening in
   * two.
   */
  passable(window: string): number;
}

/**
 * Cuts behind whole pieces. A piece that gets longer than `longestPieceBytes` passes unread from then on, as long as no
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
