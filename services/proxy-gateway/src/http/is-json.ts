import type { Pieces } from '@sluice/service-runtime';

/** How much is scanned before other work may run: less than a millisecond. */
const bytesOfPiece = 64 * 1024;

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const closings: Record<number, number> = { 91: 0x5d, 123: 0x7d };
const openingBrace = 0x7b;
const scalar = /(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)/y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Whether `JSON.parse` would accept the Latin-1 text, without the time that building millions of values takes. */
export function* isJsonInPieces(latin1: string): Pieces<boolean> {
  const open: number[] = [];
  let expects: 'value' | 'value or end' | 'name' | 'name or end' | 'next' = 'value';
  let until = bytesOfPiece;
  for (let at = endOfSpace(latin1, 0); at < latin1.length; at = endOfSpace(latin1, at)) {
    if (at >= until) {
      until = at + bytesOfPiece;
      yield;
    }
    const c = latin1.charCodeAt(at);
    const closing = open.at(-1);
    if (expects === 'next') {
      if (closing === undefined) return false;
      if (c === comma) expects = closing === closings[openingBrace] ? 'name' : 'value';
      else if (c === closing) open.pop();
      else return false;
      at += 1;
    } else if (c === closing && expects.endsWith('or end')) {
      open.pop();
      expects = 'next';
      at += 1;
    } else if (expects === 'name' || expects === 'name or end') {
      const end = c === quote ? endOfSpace(latin1, endOfString(latin1, at)) : -1;
      if (end === -1 || latin1.charCodeAt(end) !== colon) return false;
      at = end + 1;
      expects = 'value';
    } else if (closings[c] !== undefined) {
      open.push(closings[c]);
      expects = c === openingBrace ? 'name or end' : 'value or end';
      at += 1;
    } else {
      at = c === quote ? endOfString(latin1, at) : endOf(scalar, latin1, at);
      if (at === -1) return false;
      expects = 'next';
    }
  }
  return expects === 'next' && open.length === 0;
}

function endOfSpace(text: string, from: number): number {
  if (from === -1) return -1;
  for (let at = from; ; at += 1) {
    const c = text.charCodeAt(at);
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return at;
  }
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; ) {
    const c = text.charCodeAt(at);
    if (c === quote) return at + 1;
    if (c < 0x20) return -1;
    at = c === backslash ? endOf(escapeSequence, text, at) : at + 1;
    if (at === -1) return -1;
  }
  return -1;
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}
