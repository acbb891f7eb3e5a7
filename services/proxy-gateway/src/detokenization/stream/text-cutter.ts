import type { Cut } from './cutter.ts';

/** Longest expression: 2,000 UTF-16 code units of at most three bytes each. */
const longestExpressionBytes = 6000;

/** Cuts neither an expression nor a UTF-8 character in two. */
export function cutText(window: string, isLast: boolean): Cut {
  if (isLast) return { passes: 0, end: window.length };
  for (let position = 0; ; ) {
    const start = window.indexOf('{{', position);
    if (start === -1) return { passes: 0, end: endOfWhole(window) };
    const close = closeOf(window, start + 2);
    if (close === undefined) {
      // The parser refuses an expression that is too long
      const isTooLong = window.length - start > longestExpressionBytes;
      return { passes: 0, end: isTooLong ? window.length : start };
    }
    position = close;
  }
}

/** The position behind the closing braces, or where the expression is broken; undefined if the window holds neither. */
function closeOf(window: string, from: number): number | undefined {
  const brace = window[from] === undefined ? -1 : firstBrace(window, from);
  if (brace === -1) return undefined;
  if (window[brace] === '{') return brace + 1;
  if (brace + 1 === window.length) return undefined;
  return brace + 2;
}

/** Skips quoted arguments of filters, which follow the first bar and may hold braces. */
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

/** Leaves out a brace at the end, which may begin an opening, and an unfinished UTF-8 character. */
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
