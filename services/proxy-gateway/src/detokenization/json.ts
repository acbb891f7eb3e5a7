import { isUtf8 } from 'node:buffer';
import type { ServiceError } from '@sluice/problems';
import type { Charset } from '@sluice/sandbox';
import {
  type Expression,
  faultIn,
  formatPath,
  type InvalidExpression,
  type Json,
  type Segment,
  toText,
} from '@sluice/vault';
import { backslashesBefore, endOfString } from '../http/json-string.ts';
import { malformedBody, notOfCharset, opening, type Place, quoted, type TextFinder, textOf } from './place.ts';

const quote = 0x22;
/** Longest white space between a name and its value for which an error names the member. */
const longestGap = 100;
const brace = 0x7b;
const escapedBrace = /\\u007b/i;

/** Nothing is parsed, so that every byte outside these strings stays. Names of members are not values. */
export class JsonTexts implements TextFinder {
  position = 0;
  readonly #latin1: string;
  readonly #isWhole: boolean;
  readonly #charset: Charset | undefined;
  readonly #hasEscapes: boolean;
  #opening: number;
  #start = 0;

  /** @param charset UTF-8 if absent, otherwise a single-byte one. */
  constructor(latin1: string, { isWhole, charset }: { isWhole: boolean; charset: Charset | undefined }) {
    this.#latin1 = latin1;
    this.#isWhole = isWhole;
    this.#charset = charset?.name === 'utf-8' ? undefined : charset;
    this.#hasEscapes = escapedBrace.test(latin1);
    this.#opening = latin1.indexOf(opening);
  }

  next(until: number): string | undefined {
    const latin1 = this.#latin1;
    for (let position = this.position; position < latin1.length; position++) {
      if (position >= until) {
        this.position = position;
        return undefined;
      }
      const c = latin1.charCodeAt(position);
      if (c === brace && latin1.charCodeAt(position + 1) === brace) throw this.#outsideStrings(position);
      if (c !== quote) continue;
      const end = endOfLiteral(latin1, position);
      const text = this.#textOf(position, end);
      if (text !== undefined) {
        this.#start = position;
        this.position = end;
        return text;
      }
      position = end - 1;
    }
    this.position = latin1.length;
    return undefined;
  }

  place(segments: readonly Segment[]): Place {
    const start = this.#start;
    const place = new JsonPlace(start, this.position, segments, this.#charset);
    const fault = faultIn(segments);
    if (!fault) return place;
    const [latin1, isWhole] = [this.#latin1, this.#isWhole];
    place.fault = () => fault.within(`of ${isWhole ? jsonPathAt(latin1, start) : memberAt(latin1, start)}`);
    return place;
  }

  #textOf(start: number, end: number): string | undefined {
    const latin1 = this.#latin1;
    if (this.#opening !== -1 && this.#opening < start) this.#opening = latin1.indexOf(opening, start);
    const hasOpening = this.#opening !== -1 && this.#opening < end;
    if (!(hasOpening || this.#hasEscapes) || isName(latin1, end)) return undefined;
    const literal = latin1.slice(start, end);
    if (!hasOpening && !escapedBrace.test(literal)) return undefined;
    const text = decodeLiteral(literal, this.#charset);
    if (!text.includes(opening)) return undefined;
    if (!this.#charset && !isUtf8(Buffer.from(literal, 'latin1'))) throw notOfCharset('utf-8');
    return text;
  }

  #outsideStrings(position: number): ServiceError {
    const where = this.#isWhole ? ` at ${jsonPathAt(this.#latin1, position)}` : '';
    return malformedBody(`JSON: the expression${where} must be inside a string`);
  }
}

function endOfLiteral(text: string, start: number): number {
  const end = endOfString(text, start + 1);
  if (end === -1) throw malformedBody('JSON: a string is not closed');
  return end;
}

function isName(text: string, position: number): boolean {
  for (let i = position; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c !== 0x20 && c !== 0x09 && c !== 0x0a && c !== 0x0d) return c === 0x3a;
  }
  return false;
}

/** Only errors need the path, so it is computed when one is made. */
function jsonPathAt(latin1: string, position: number): string {
  const path: (string | number)[] = [];
  let literal = '""';
  for (let i = 0; i < position; i++) {
    const c = latin1[i];
    const last = path.length - 1;
    const step = path[last];
    if (c === '"') {
      const end = endOfLiteral(latin1, i);
      literal = latin1.slice(i, end);
      i = end - 1;
    } else if (c === '{') path.push('');
    else if (c === '[') path.push(0);
    else if (c === '}' || c === ']') path.pop();
    else if (c === ':' && typeof step === 'string') path[last] = decodeLiteral(literal);
    else if (c === ',' && typeof step === 'number') path[last] = step + 1;
  }
  return formatPath(path);
}

/** For a part of a JSON text: the member whose value begins here, if its name is in the part. */
function memberAt(latin1: string, position: number): string {
  const end = /"[ \t\r\n]*:[ \t\r\n]*$/.exec(latin1.slice(Math.max(0, position - longestGap), position));
  if (!end) return 'a string';
  const closing = position - end[0].length;
  let start = latin1.lastIndexOf('"', closing - 1);
  while (start > 0 && backslashesBefore(latin1, start) % 2 === 1) start = latin1.lastIndexOf('"', start - 1);
  return start < 0 || start >= closing
    ? 'a string'
    : `the member ${quoted(decodeLiteral(latin1.slice(start, closing + 1)))}`;
}

/** Most literals are plain ASCII without escapes and need no decoding. */
const plainLiteral = /^"[ !#-[\]-~]*"$/;

function decodeLiteral(latin1: string, charset?: Charset): string {
  if (plainLiteral.test(latin1)) return latin1.slice(1, -1);
  const bytes = Buffer.from(latin1, 'latin1');
  try {
    return JSON.parse(charset ? (charset.decode(bytes) ?? '') : bytes.toString());
  } catch {
    throw malformedBody('JSON: a string cannot be read');
  }
}

const beyondAscii = /[^\0-\x7f]/g;
const escapeOf = (c: string) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The bytes as Latin-1. Characters that the charset lacks are escaped. */
function inCharset(json: string, charset: Charset): string {
  const escaped = json.replace(beyondAscii, (c) => (charset.encode(c) ? c : escapeOf(c)));
  return charset.encode(escaped)?.toString('latin1') ?? '';
}

class JsonPlace implements Place {
  readonly start: number;
  readonly end: number;
  readonly segments: readonly Segment[];
  readonly encoding?: 'latin1';
  fault?: () => InvalidExpression;
  readonly #charset: Charset | undefined;

  constructor(start: number, end: number, segments: readonly Segment[], charset: Charset | undefined) {
    this.start = start;
    this.end = end;
    this.segments = segments;
    this.#charset = charset;
    if (charset) this.encoding = 'latin1';
  }

  /** In a single-byte charset the values are ASCII, because what readers take for it differs (ISO-8859-1). */
  write(resolve: (expression: Expression) => Json): string {
    const charset = this.#charset;
    if (!charset) return this.#json(resolve);
    if (this.segments.length === 1) return this.#json(resolve).replace(beyondAscii, escapeOf);
    const texts = this.segments.map((segment) => {
      const json = JSON.stringify(textOf([segment], resolve)).slice(1, -1);
      return segment.kind === 'literal' ? inCharset(json, charset) : json.replace(beyondAscii, escapeOf);
    });
    return `"${texts.join('')}"`;
  }

  /** A string that is one expression becomes its value; within other text every value is text. */
  #json(resolve: (expression: Expression) => Json): string {
    const [only] = this.segments;
    if (this.segments.length === 1 && only?.kind === 'expression') {
      const value = resolve(only);
      const keepsType = only.filters.length > 0 || (typeof value === 'object' && value !== null);
      return JSON.stringify(keepsType ? value : toText(value));
    }
    return JSON.stringify(textOf(this.segments, resolve));
  }
}
