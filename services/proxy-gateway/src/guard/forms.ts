import type { Pieces } from '@sluice/service-runtime';
import { base64Forms } from './base64-forms.ts';
import { digitForms } from './digit-forms.ts';
import type { Form, Pattern } from './pattern.ts';

/** Forms with this many characters take about a millisecond. */
const charactersOfPiece = 16 * 1024;

/** The forms of all values. A form that several values share belongs to the first of them. */
export function* patternsOf(values: readonly string[]): Pieces<Pattern[]> {
  const patterns = new Map<string, Pattern>();
  let characters = 0;
  for (const [value, text] of values.entries()) {
    for (const form of formsOf(text)) {
      const key = `${form.bytes.toString('latin1')} ${form.last ? String.fromCharCode(...form.last) : ''}`;
      if (!patterns.has(key)) patterns.set(key, { ...form, value });
      characters += text.length;
      if (characters < charactersOfPiece) continue;
      yield;
      characters = 0;
    }
  }
  return [...patterns.values()];
}

/** The forms of one value, some of them equal. README.md lists what they find. */
export function* formsOf(value: string): Generator<Form> {
  // A lone surrogate has no form of its own in UTF-8
  const text = value.toWellFormed();
  for (const form of textForms(text)) yield { bytes: Buffer.from(form) };
  // As header lines and bodies in Latin-1 have it
  if (isLatin1.test(text)) yield { bytes: Buffer.from(text, 'latin1') };
  yield* base64Forms(Buffer.from(text));
}

function* textForms(text: string): Generator<string> {
  yield text;
  yield* jsonForms(text);
  yield* percentForms(text);
  yield text.replaceAll('"', '""'); // CSV
  const hexadecimal = Buffer.from(text).toString('hex');
  yield hexadecimal;
  yield hexadecimal.toUpperCase();
  yield* digitForms(text);
}

/** As writers of JSON escape it: the slash or not, characters beyond ASCII or not, hexadecimal digits in either case. */
function* jsonForms(text: string): Generator<string> {
  const plain = JSON.stringify(text).slice(1, -1);
  for (const form of alternatives(plain, plain.replaceAll('/', '\\/'))) {
    yield form;
    if (!/[^\0-\x7f]|\\u/.test(form)) continue;
    yield escaped(form, (hex) => hex);
    yield escaped(form, (hex) => hex.toUpperCase());
  }
}

/** Control characters are escaped already, so they only change their case. */
function escaped(form: string, cased: (hex: string) => string): string {
  return form
    .replaceAll(/\\u[0-9a-f]{4}|\\./g, (sign) => (sign.length === 6 ? `\\u${cased(sign.slice(2))}` : sign))
    .replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${cased(unit.charCodeAt(0).toString(16).padStart(4, '0'))}`);
}

const isLatin1 = /^(?=.*[\x80-\xff])[\0-\xff]*$/s;

/** As `encodeURIComponent`, RFC 3986 and forms escape it, a blank as `%20` or `+`. */
function* percentForms(text: string): Generator<string> {
  const component = encodeURIComponent(text);
  const strict = component.replaceAll(/[!'()*]/g, inPercent);
  const ofForms = component.replaceAll(/[!'()~]/g, inPercent);
  for (const form of new Set([component, strict, ofForms])) {
    const lower = form.replaceAll(/%[0-9A-F]{2}/g, (sign) => sign.toLowerCase());
    for (const cased of alternatives(form, lower)) yield* alternatives(cased, cased.replaceAll('%20', '+'));
  }
}

function inPercent(sign: string): string {
  return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
}

function alternatives(one: string, other: string): string[] {
  return one === other ? [one] : [one, other];
}
