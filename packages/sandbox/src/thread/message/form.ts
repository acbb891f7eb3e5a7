import { type Charset, encodeForm } from '../../charset/charset.ts';
import { type UnreadableReason, UnusableResult } from './transform-message.ts';

interface FormReading {
  mostPairs: number;
  charset: Charset;
}

/** WHATWG URL, in one pass, because `URLSearchParams` takes time quadratic in the number of pairs. */
export function formToJson(
  text: string,
  { mostPairs, charset }: FormReading,
): { json: string } | { unreadable: UnreadableReason } {
  const fields = new Map<string, string | string[]>();
  let pairs = 0;
  for (let start = 0; start <= text.length; ) {
    if (pairs++ === mostPairs) return { unreadable: 'too_many_pairs' };
    const next = text.indexOf('&', start);
    const end = next === -1 ? text.length : next;
    if (end > start && !addPair(fields, text.slice(start, end), charset)) return { unreadable: 'charset' };
    start = end + 1;
  }
  return { json: JSON.stringify(Object.fromEntries(fields)) };
}

/** Returns false if the bytes of the pair are invalid in the charset. */
function addPair(fields: Map<string, string | string[]>, pair: string, charset: Charset): boolean {
  const equals = pair.indexOf('=');
  const name = decoded(equals === -1 ? pair : pair.slice(0, equals), charset);
  const value = equals === -1 ? '' : decoded(pair.slice(equals + 1), charset);
  if (name === undefined || value === undefined) return false;
  const before = fields.get(name);
  if (Array.isArray(before)) before.push(value);
  else fields.set(name, before === undefined ? value : [before, value]);
  return true;
}

function decoded(text: string, charset: Charset): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  const isUtf8 = charset.name === 'utf-8';
  if (isUtf8 && !spaced.includes('%')) return spaced;
  return charset.decode(percentDecoded(Buffer.from(spaced, isUtf8 ? 'utf8' : 'latin1')));
}

const percent = 0x25;

/** WHATWG URL, percent-decode: a percent sign without two digits stays. */
function percentDecoded(bytes: Buffer): Buffer {
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const digits = bytes[at] === percent ? hexadecimal(bytes[at + 1]) * 16 + hexadecimal(bytes[at + 2]) : Number.NaN;
    const isCoded = !Number.isNaN(digits);
    bytes[length] = isCoded ? digits : (bytes[at] ?? 0);
    if (isCoded) at += 2;
    length += 1;
  }
  return bytes.subarray(0, length);
}

function hexadecimal(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

/** @throws {UnusableResult} for anything but an object, for too many pairs, and for text that the charset lacks. */
export function jsonToForm(json: string, { mostPairs, charset }: FormReading): string {
  const encoded = (text: string) => encodedIn(charset, text);
  const value: unknown = JSON.parse(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const what = 'a form body that is not an object';
    throw new UnusableResult(`The transform returned ${what}`, what);
  }
  const pairs: string[] = [];
  for (const [name, field] of Object.entries(value)) {
    for (const item of Array.isArray(field) ? field : [field]) {
      if (pairs.length === mostPairs) {
        const what = `a form of more than ${mostPairs} pairs`;
        throw new UnusableResult(`The transform returned ${what}`, what, 'form_pairs');
      }
      pairs.push(`${encoded(name)}=${encoded(fieldText(item))}`);
    }
  }
  return pairs.join('&');
}

function encodedIn(charset: Charset, text: string): string {
  const encoded = encodeForm(text, charset);
  if (encoded === undefined) throw beyondCharset(charset);
  return encoded;
}

export function beyondCharset({ name }: Charset): UnusableResult {
  const what = `characters that its charset ${name} does not have`;
  return new UnusableResult(`The transform returned a body with ${what}`, what);
}

function fieldText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}
