import { UnusableResult } from './transform-message.ts';

/** WHATWG URL, in one pass, because `URLSearchParams` takes the square of the pairs. Undefined for more pairs. */
export function formToJson(text: string, mostPairs: number): string | undefined {
  const fields = new Map<string, string | string[]>();
  let pairs = 0;
  for (let start = 0; start <= text.length; ) {
    if (pairs++ === mostPairs) return undefined;
    const next = text.indexOf('&', start);
    const end = next === -1 ? text.length : next;
    if (end > start) addPair(fields, text.slice(start, end));
    start = end + 1;
  }
  return JSON.stringify(Object.fromEntries(fields));
}

function addPair(fields: Map<string, string | string[]>, pair: string): void {
  const equals = pair.indexOf('=');
  const name = decoded(equals === -1 ? pair : pair.slice(0, equals));
  const value = equals === -1 ? '' : decoded(pair.slice(equals + 1));
  const before = fields.get(name);
  if (Array.isArray(before)) before.push(value);
  else fields.set(name, before === undefined ? value : [before, value]);
}

function decoded(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return spaced.includes('%') ? percentDecoded(Buffer.from(spaced)) : spaced;
}

const percent = 0x25;

/** WHATWG URL, percent-decode: a percent sign without two digits stays. */
function percentDecoded(bytes: Buffer): string {
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const digits = bytes[at] === percent ? hexadecimal(bytes[at + 1]) * 16 + hexadecimal(bytes[at + 2]) : Number.NaN;
    const isCoded = !Number.isNaN(digits);
    bytes[length] = isCoded ? digits : (bytes[at] ?? 0);
    if (isCoded) at += 2;
    length += 1;
  }
  return bytes.toString('utf8', 0, length);
}

function hexadecimal(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

/** @throws {UnusableResult} for anything but an object, and for more pairs. */
export function jsonToForm(json: string, mostPairs: number): string {
  const value: unknown = JSON.parse(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const what = 'a body that is no object for a form';
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

const encoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

function fieldText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}
