import type { Cut } from './cutter.ts';

/** In UTF-16 code units, of at most three bytes each. */
const longestExpression = 2000;
const longestExpressionBytes = 3 * longestExpression;

/**
 * Cuts no expression and no UTF-8 character in two. The window has at least `lookahead` bytes after an expression, or
 * all bytes up to the next one.
 */
export function cutText(window: string, isLast: boolean, lookahead: number): Cut {
  if (isLast) return { passes: 0, end: window.length };
  let last: number | undefined;
  for (let position = 0; ; ) {
    const start = window.indexOf('{{', position);
    if (start === -1) {
      const isKnown = window.length - position > lookahead;
      return { passes: 0, end: isKnown || last === undefined ? endOfWhole(window) : last };
    }
    last = start;
    const close = closeOf(window, start + 2);
    if (close === undefined) {
      // The parser refuses an expression that is too long
      const isTooLong = window.length - start > longestExpressionBytes;
      return { passes: 0, end: isTooLong ? window.length : start };
    }
    position = close;
  }
}

/**
 * The position after the closing braces, or where the expression is broken; undefined if the window contains neither.
 */
function closeOf(window: string, from: number): number | undefined {
  const quotedEnd = endOfQuotedText(window, from);
  if (quotedEnd !== notQuoted) return quotedEnd;
  const brace = window[from] === undefined ? -1 : firstBrace(window, from);
  if (brace === -1) return undefined;
  if (window[brace] === '{') return brace + 1;
  if (brace + 1 === window.length) return undefined;
  return brace + 2;
}

const notQuoted = -1;

/** The position after a quoted text and its closing braces; undefined if the window may end within it. */
function endOfQuotedText(window: string, from: number): number | undefined {
  const start = endOfBlanks(window, from);
  const quote = window[start];
  if (quote === undefined) return undefined;
  if (quote !== '"' && quote !== "'") return notQuoted;
  const isCut = window.length - from <= longestExpressionBytes;
  const until = Math.min(window.length, from + longestExpressionBytes);
  let at = start + 1;
  while (at < until && window[at] !== quote) at += window[at] === '\\' ? 2 : 1;
  if (at >= until) return isCut ? undefined : notQuoted;
  const close = endOfBlanks(window, at + 1);
  const behind = window.slice(close, close + 2);
  if (behind === '}}') return isShort(window.slice(from - 2, close + 2)) ? close + 2 : notQuoted;
  return '}}'.startsWith(behind) && isCut ? undefined : notQuoted;
}

function endOfBlanks(window: string, from: number): number {
  let at = from;
  while (at < window.length && ' \t\r\n'.includes(window[at] ?? '')) at += 1;
  return at;
}

const isShort = (expression: string) => Buffer.from(expression, 'latin1').toString().length <= longestExpression;

/** Skips quoted arguments of filters, which follow the first bar and may contain braces. */
function firstBrace(window: string, from: number): number {
  let quote = '';
  let isFilter = false;
  for (let i = from; i < window.length; i++) {
    const c = window[i] ?? '';
    if (quote !== '') {
      if (c === '\\') i++;
      else if (c === quote) quote = '';
    } else if (isFilter && (c === '"' || c === "'")) quote = c;
    else if (c === '|') isFilter = true;
    else if (c === '{' || c === '}') return i;
  }
  return -1;
}

/** Excludes a brace at the end, which may begin an opening, and an unfinished UTF-8 character. */
function endOfWhole(window: string): number {
  const { length } = window;
  if (window.endsWith('{')) return length - 1;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = window.charCodeAt(length - back);
    if (byte < 0x80) return length;
    if (byte >= 0xc0) return sizeOfCharacter(byte) > back ? length - back : length;
  }
  return length;
}

function sizeOfCharacter(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}
