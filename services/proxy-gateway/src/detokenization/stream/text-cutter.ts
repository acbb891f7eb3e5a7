import type { Cut } from './cutter.ts';

/** No expression is longer: 2,000 UTF-16 code units, each of at most three bytes. */
const longestExpressionBytes = 6000;

/** Cuts a text where no expression and no character of UTF-8 is cut in two. */
export function cutText(window: string, isLast: boolean): Cut {
  if (isLast) return { passes: 0, end: window.length };
  for (let position = 0; ; ) {
    const start = window.indexOf('{{', position);
    if (start === -1) return { passes: 0, end: endOfWhole(window) };
    const close = closeOf(window, start + 2);
    if (close === undefined) {
      // What is too long is for the parser to refuse.
      const isTooLong = window.length - start > longestExpressionBytes;
      return { passes: 0, end: isTooLong ? window.length : start };
    }
    position = close;
  }
}

/** The position behind the braces that close an expression, or of what breaks it; undefined if neither is here. */
function closeOf(window: string, from: number): number | undefined {
  const brace = window[from] === undefined ? -1 : firstBrace(window, from);
  if (brace === -1) return undefined;
  if (window[brace] === '{') return brace + 1;
  if (brace + 1 === window.length) return undefined;
  return brace + 2;
}

/** Behind the first bar are filters, whose quoted arguments may hold braces. */
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

/** Less a brace that another may follow, and less the start of a character of several bytes. */
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
