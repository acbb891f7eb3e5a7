import type { Pieces } from './cutter.ts';

export const formPieces: Pieces = {
  lastBorder: (window) => window.lastIndexOf('&') + 1,
  endOfPiece: (window) => window.indexOf('&') + 1 || -1,
  holdsOpening: (part) => /(?:\{|%7b){2}/i.test(part),
  passable: (window) => Math.max(0, window.length - '%7b%7b'.length),
};
