import { type Charset, charsetNamed, encodeForm } from '@sluice/sandbox';
import { type Expression, faultIn, type Json, type Segment } from '@sluice/vault';
import { notOfCharset, opening, type Place, quoted, type TextFinder, textOf } from './place.ts';
import { notInCharset } from './text-reader.ts';

const utf8 = charsetNamed('utf-8');

/** How an expression can begin. A form without it is not split into its pairs, because it may have millions. */
const beginning = /\{|%7b/gi;

/** The values of a form (WHATWG URL, application/x-www-form-urlencoded) that hold expressions. Names stay. */
export class FormTexts implements TextFinder {
  position = 0;
  readonly #latin1: string;
  readonly #charset: Charset;
  #nameStart = 0;
  #start = 0;

  /** @param charset of the bytes that escapes encode: UTF-8 if absent, otherwise a single-byte one. */
  constructor(latin1: string, charset: Charset = utf8) {
    this.#latin1 = latin1;
    this.#charset = charset;
  }

  next(until: number): string | undefined {
    const latin1 = this.#latin1;
    while (this.position < until) {
      beginning.lastIndex = this.position;
      const found = beginning.exec(latin1);
      if (!found) {
        this.position = latin1.length;
        return undefined;
      }
      const pairStart = latin1.lastIndexOf('&', found.index) + 1;
      const end = endOfPair(latin1, found.index);
      this.position = end;
      const equals = latin1.slice(pairStart, end).indexOf('=');
      if (equals === -1) continue;
      const start = pairStart + equals + 1;
      const source = latin1.slice(start, end);
      const text = decodeValue(source, this.#charset);
      if (!text.includes(opening)) continue;
      if (/[^\0-\x7f]/.test(text) && this.#charset.decode(bytesOf(source)) === undefined) {
        throw notOfCharset(this.#charset.name);
      }
      this.#nameStart = pairStart;
      this.#start = start;
      return text;
    }
    return undefined;
  }

  place(segments: readonly Segment[]): Place {
    const [latin1, nameStart, start, charset] = [this.#latin1, this.#nameStart, this.#start, this.#charset];
    const fault = faultIn(segments);
    const name = () => quoted(decodeValue(latin1.slice(nameStart, start - 1), charset));
    return {
      start,
      end: this.position,
      segments,
      ...(fault && { fault: () => fault.within(`of the field ${name()}`) }),
      write: (resolve) => segments.map((segment) => encodeSegment(segment, resolve, charset)).join(''),
    };
  }
}

function endOfPair(latin1: string, from: number): number {
  const end = latin1.indexOf('&', from);
  return end === -1 ? latin1.length : end;
}

/** WHATWG URL: invalid bytes become replacement characters, which only the search and errors see. */
function decodeValue(latin1: string, charset: Charset): string {
  if (charset.name === utf8.name) {
    return new URLSearchParams(`v=${Buffer.from(latin1, 'latin1').toString()}`).get('v') ?? '';
  }
  const bytes = bytesOf(latin1);
  return charset.decode(bytes) ?? bytes.toString('latin1');
}

function bytesOf(latin1: string): Buffer {
  const text = latin1
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(text, 'latin1');
}

/**
 * A filter's result with characters that the charset lacks is omitted, because an error would reveal something about
 * the value.
 */
function encodeSegment(segment: Segment, resolve: (expression: Expression) => Json, charset: Charset): string {
  const text = textOf([segment], resolve);
  const encoded = encodeForm(text, charset);
  if (encoded !== undefined) return encoded;
  if (segment.kind === 'literal' || segment.filters.length === 0) throw notInCharset(segment, charset);
  return '';
}
