import { isUtf8 } from 'node:buffer';
import type { Segment } from '@sluice/vault';

/** Whether a text as sent can hold the beginning of an expression. */
export function mayHoldOpening(source: string): boolean {
  return /(?:\{|%7b){2}/i.test(source);
}

/** A percent-decoded text, and for each of its UTF-16 code units where its source begins. */
interface Decoded {
  text: string;
  /** With the end of the source as last. */
  starts: readonly number[];
}

/** Bytes that are not UTF-8 are read as Latin-1. */
export function decodeWithStarts(source: string, { plusIsBlank }: { plusIsBlank: boolean }): Decoded {
  const bytes: number[] = [];
  const starts: number[] = [];
  for (let at = 0; at < source.length; ) {
    starts.push(at);
    const byte = escapeAt(source, at);
    if (byte !== undefined) bytes.push(byte);
    else bytes.push(plusIsBlank && source[at] === '+' ? 0x20 : source.charCodeAt(at));
    at += byte === undefined ? 1 : 3;
  }
  starts.push(source.length);
  const buffer = Buffer.from(bytes);
  if (!isUtf8(buffer)) return { text: buffer.toString('latin1'), starts };
  const text = buffer.toString();
  return { text, starts: text.length === buffer.length ? starts : startsOfUnits(text, starts) };
}

function startsOfUnits(text: string, ofBytes: readonly number[]): number[] {
  const starts: number[] = [];
  let byte = 0;
  for (const character of text) {
    for (let unit = 0; unit < character.length; unit++) starts.push(ofBytes[byte] ?? 0);
    byte += Buffer.byteLength(character);
  }
  starts.push(ofBytes[byte] ?? 0);
  return starts;
}

function escapeAt(source: string, at: number): number | undefined {
  if (source[at] !== '%') return undefined;
  const digits = source.slice(at + 1, at + 3);
  return /^[0-9a-f]{2}$/i.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

export interface Range {
  segment: Segment;
  start: number;
  end: number;
}

/** Where the segments of a text stand in its source. */
export function rangesOf(segments: readonly Segment[], starts: (unit: number) => number): Range[] {
  let at = 0;
  return segments.map((segment) => {
    const from = at;
    if (segment.kind === 'expression') at = segment.end;
    else at = segment.place?.end ?? from + segment.text.length;
    return { segment, start: starts(from), end: starts(at) };
  });
}

/** Whether it is replaced: an expression, or a quoted text. */
export function isReplaced(segment: Segment): boolean {
  return segment.kind === 'expression' || segment.place !== undefined;
}

/** All but the unreserved characters of RFC 3986. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** As a server reads it that decodes twice. Each byte is one character. */
export function decodeTwice(source: string): string {
  const once = (text: string) =>
    text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return once(once(source));
}
