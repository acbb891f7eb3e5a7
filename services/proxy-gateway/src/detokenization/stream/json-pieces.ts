import { backslashesBefore, endOfString } from '../../http/json-string.ts';
import type { Pieces } from './cutter.ts';

/** A string with an opening is kept until the next token shows whether it is a name; a brace, until the next character. */
export const jsonPieces: Pieces = {
  lastBorder,
  endOfPiece: (window) => endOfString(window, 0),
  holdsOpening,
  passable(window) {
    const end = Math.max(0, window.length - longestOpening.length);
    return end - (backslashesBefore(window, end) % 2);
  },
};

const longestOpening = '\\u007b\\u007b';
const nextQuoteOrBrace = /["{]/g;
const nextToken = /[^ \t\n\r]/g;

function lastBorder(window: string): number {
  let position = 0;
  for (let literal = -1; ; ) {
    const start = indexOf(window, nextQuoteOrBrace, position);
    if (start === -1) return literal !== -1 && awaitsToken(window, literal, position) ? literal : window.length;
    if (window[start] === '{') {
      if (window.startsWith('{{', start)) return window.length; // which the reader refuses
      if (start === window.length - 1) return start;
      literal = -1;
      position = start + 1;
    } else {
      position = endOfString(window, start + 1);
      if (position === -1) return start;
      literal = start;
    }
  }
}

function awaitsToken(window: string, start: number, end: number): boolean {
  return indexOf(window, nextToken, end) === -1 && holdsOpening(window.slice(start, end));
}

function holdsOpening(part: string): boolean {
  if (!part.includes('{') && !/\\u007b/i.test(part)) return false;
  // An escaped backslash starts no escape
  return /(?:\{|\\u007b){2}/i.test(part.replaceAll('\\\\', '__'));
}

function indexOf(window: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(window)?.index ?? -1;
}
