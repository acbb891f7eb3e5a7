import { isAscii, isUtf8 } from 'node:buffer';
import { ServiceError } from '@sluice/problems';
import { type Charset, charsetNamed, isMultiByte } from '@sluice/sandbox';
import type { Pieces } from '@sluice/service-runtime';
import { readExpressions, readExpressionsInPieces, type Segment } from '@sluice/vault';
import type { ContentKind } from '../http/content-type.ts';
import { asciiOf } from './multi-byte.ts';
import { mostOfWindow, opening, type Place, textOf } from './place.ts';
import { CsvScanner, writeInCsv } from './sites/csv-scanner.ts';
import { MarkupScanner } from './sites/markup-scanner.ts';
import { nearby, plainText, type Site, type SiteScanner, type WriteAtSite } from './sites/site.ts';
import { writeInHtml, writeInXml } from './sites/write-markup.ts';
import type { Cut } from './stream/cutter.ts';
import { cutText } from './stream/text-cutter.ts';

export type TextKind = 'text' | 'csv' | 'xml' | 'html';

export function isText(kind: ContentKind): kind is TextKind {
  return Object.hasOwn(writers, kind);
}

interface DecodedText {
  bytes: Buffer;
  text: string;
  encoding: 'utf8' | 'latin1';
}

export interface TextReading {
  /** UTF-8 if absent, never UTF-16. */
  charset?: Charset | undefined;
  most?: number;
}

const utf8 = charsetNamed('utf-8');

/** Finds expressions in the text of one window after another, and the kind of place of each. */
export class TextReader {
  readonly #kind: TextKind;
  readonly #charset: Charset;
  readonly #most: number;
  readonly #scanner: SiteScanner;
  /** The text after the window, as far as the reader has to see it. */
  #following = '';
  #isRead = false;

  constructor(kind: TextKind, { charset = utf8, most = mostOfWindow }: TextReading = {}) {
    this.#kind = kind;
    this.#charset = charset;
    this.#most = most;
    this.#scanner = scannerFor(kind);
  }

  cut(window: string, isLast: boolean): Cut {
    const text = asciiOf(window, this.#charset, isLast);
    const { end } = cutText(text, isLast, nearby);
    this.#following = text.slice(end, end + nearby + 1);
    const part = text.slice(0, end);
    this.#isRead = !part.includes(opening);
    if (this.#isRead) this.#scanner.read(part);
    return { passes: 0, end };
  }

  find(bytes: Buffer): Place[] {
    const decoded = this.#decode(bytes);
    return decoded ? this.#placesIn(decoded, readExpressions(decoded.text, this.#most)) : [];
  }

  *findInPieces(bytes: Buffer): Pieces<Place[]> {
    const decoded = this.#decode(bytes);
    return decoded ? this.#placesIn(decoded, yield* readExpressionsInPieces(decoded.text, this.#most)) : [];
  }

  /** Undefined if it contains no expression. Bytes that are invalid in its charset are read as Latin-1. */
  #decode(bytes: Buffer): DecodedText | undefined {
    if (this.#isRead || !bytes.includes(opening)) return undefined;
    if (isMultiByte(this.#charset)) {
      return { bytes, text: asciiOf(bytes.toString('latin1'), this.#charset), encoding: 'latin1' };
    }
    if (this.#charset.name !== utf8.name) {
      return { bytes, text: this.#charset.decode(bytes) ?? bytes.toString('latin1'), encoding: 'latin1' };
    }
    const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
    return { bytes, text: bytes.toString(encoding), encoding };
  }

  #placesIn({ bytes, text, encoding }: DecodedText, segments: readonly Segment[]): Place[] {
    const places: Place[] = [];
    // A character may take several bytes in the body, so bytes are counted along the way
    let byte = 0;
    for (const [at, segment] of segments.entries()) {
      const start = byte;
      const source = sourceOf(segment, text);
      byte += Buffer.byteLength(source, encoding);
      if (segment.kind === 'literal' && !segment.place) {
        this.#scanner.read(source);
        continue;
      }
      const site = { ...this.#scanner.meet(), ...this.#behind(segments, at) };
      const read = isMultiByte(this.#charset) ? this.#readAgain(segment, bytes.subarray(start, byte)) : segment;
      places.push(this.#place(read, site, { start, end: byte }));
    }
    return places;
  }

  /** Until now only the ASCII characters of an expression are known, not those of its arguments. */
  #readAgain(segment: Segment, source: Buffer): Segment {
    const text = isAscii(source) ? undefined : this.#charset.decode(source);
    return (text === undefined ? undefined : readExpressions(text, 1)[0]) ?? segment;
  }

  #behind(segments: readonly Segment[], at: number): Pick<Site, 'after' | 'meetsAnother'> {
    const next = segments[at + 1];
    const isLiteral = next?.kind === 'literal' && !next.place;
    const literal = isLiteral ? next.text.slice(0, nearby) : '';
    if (segments.length > at + (isLiteral ? 2 : 1)) return { after: literal, meetsAnother: literal.length < nearby };
    const following = this.#following.indexOf(opening);
    const rest = following === -1 ? this.#following : this.#following.slice(0, following);
    const after = (literal + rest).slice(0, nearby);
    return { after, meetsAnother: following !== -1 && after.length < nearby };
  }

  #place(segment: Segment, site: Site, range: { start: number; end: number }): Place {
    const charset = this.#charset;
    const isUtf8 = charset.name === utf8.name;
    const written = (value: string): string | ServiceError => {
      const text = writers[this.#kind](value, site, charset);
      if (text === undefined)
        return charset.encode(value) ? cannotStand(segment, site) : notInCharset(segment, charset);
      return isUtf8 ? text : (charset.encode(text)?.toString('latin1') ?? '');
    };
    return {
      ...range,
      segments: [segment],
      ...(!isUtf8 && { encoding: 'latin1' }),
      write: (resolve) => {
        const text = written(textOf([segment], resolve));
        if (typeof text === 'string') return text;
        if (segment.kind === 'literal' || segment.filters.length === 0) throw text;
        // An error would reveal something about the filter's result
        const empty = written('');
        return typeof empty === 'string' ? empty : '';
      },
    };
  }
}

function scannerFor(kind: TextKind): SiteScanner {
  if (kind === 'text') return plainText;
  return kind === 'csv' ? new CsvScanner() : new MarkupScanner(kind);
}

const writers: Record<TextKind, WriteAtSite> = {
  text: (value, _site, charset) => (charset.encode(value) ? value : undefined),
  csv: writeInCsv,
  xml: writeInXml,
  html: writeInHtml,
};

function sourceOf(segment: Segment, text: string): string {
  const { start, end } = segment.kind === 'literal' ? (segment.place ?? {}) : segment;
  return segment.kind === 'literal' && start === undefined ? segment.text : text.slice(start, end);
}

const names: Record<Site['in'], string> = {
  text: 'XML or HTML',
  attribute: 'an attribute',
  tag: 'a tag',
  unquoted: 'an attribute without quotes',
  declaration: 'a declaration',
  literal: 'a declaration',
  comment: 'a comment',
  instruction: 'a processing instruction',
  cdata: 'a CDATA section',
  script: 'a script or style of HTML',
  quoted: 'a cell of CSV',
  cell: 'a cell of CSV that is not in quotes',
  plain: 'text',
};

function cannotStand(segment: Segment, site: Site): ServiceError {
  const detail = `${subject(segment)} cannot be written in ${names[site.in]}: it has characters that are not allowed there`;
  return new ServiceError('bad_request', detail);
}

export function notInCharset(segment: Segment, { name }: Charset): ServiceError {
  const detail = `${subject(segment)} has characters that do not exist in ${name}, the charset of the body`;
  return new ServiceError('bad_request', detail);
}

function subject(segment: Segment): string {
  if (segment.kind === 'literal') return 'A quoted text';
  return `The value of ${segment.reference.slice(0, 100)}`;
}
