import { createMultibyteDecoder, createMultibyteEncoder } from '@exodus/bytes/multi-byte.js';
import { createSinglebyteDecoder, createSinglebyteEncoder } from '@exodus/bytes/single-byte.js';

/** An encoding of WHATWG's Encoding Standard. */
export interface Charset {
  /** Its name in the standard, in lower case. */
  readonly name: string;
  /** UTF-16 with a label that does not say the order of its bytes. */
  readonly isUnmarked: boolean;
  /** Undefined if the bytes are invalid. A byte order mark stays. */
  decode(bytes: Uint8Array): string | undefined;
  /** Undefined if the charset lacks a character of the text. */
  encode(text: string): Buffer | undefined;
}

const unicode = ['utf-8', 'utf-16le', 'utf-16be'];
/** WHATWG Encoding, sections 9 and 14.5. In each of them a byte below 128 is its ASCII character. */
const oneByte: readonly string[] = [
  'ibm866',
  ...[2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16].map((part) => `iso-8859-${part}`),
  'iso-8859-8-i',
  'koi8-r',
  'koi8-u',
  'macintosh',
  'windows-874',
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((part) => `windows-125${part}`),
  'x-mac-cyrillic',
  'x-user-defined',
];
/** Without ISO-2022-JP, in which the same bytes mean other characters after a shift. */
const multiByte: ReadonlySet<string> = new Set(['big5', 'euc-jp', 'euc-kr', 'gb18030', 'gbk', 'shift_jis']);

/** What transforms read and write, and expressions in every type. */
export const simpleCharsets: ReadonlySet<string> = new Set([...unicode, ...oneByte]);
/** What expressions can be found in. */
export const readableCharsets: ReadonlySet<string> = new Set([...simpleCharsets, ...multiByte]);

export const isMultiByte = ({ name }: Charset) => multiByte.has(name);

const charsets = new Map<string, Charset>();

/** @param name one of {@link readableCharsets}. */
export function charsetNamed(name: string): Charset {
  const made = charsets.get(name);
  if (made) return made;
  const codec = multiByte.has(name)
    ? multiByteCodec(name)
    : unicode.includes(name)
      ? unicodeCodec(name)
      : byteCodec(name);
  const charset = { name, isUnmarked: false, ...codec };
  charsets.set(name, charset);
  return charset;
}

type Codec = Pick<Charset, 'decode' | 'encode'>;

function unicodeCodec(name: string): Codec {
  const decoder = new TextDecoder(name, { fatal: true, ignoreBOM: true });
  const write = {
    'utf-8': (text: string) => Buffer.from(text),
    'utf-16le': (text: string) => Buffer.from(text, 'utf16le'),
    'utf-16be': (text: string) => Buffer.from(text, 'utf16le').swap16(),
  }[name];
  return {
    decode: (bytes) => orNone(() => decoder.decode(bytes)),
    encode: (text) => (text.isWellFormed() ? write?.(text) : undefined),
  };
}

function byteCodec(name: string): Codec {
  const [decode, encode] = [createSinglebyteDecoder(name), createSinglebyteEncoder(name)];
  return { decode: (bytes) => orNone(() => decode(bytes)), encode: (text) => orNone(() => bufferOf(encode(text))) };
}

/** The standard writes a few characters as others, such as the yen sign as a backslash. They count as lacking. */
function multiByteCodec(name: string): Codec {
  const [decode, encode] = [createMultibyteDecoder(name), createMultibyteEncoder(name)];
  return {
    decode: (bytes) => orNone(() => decode(bytes)),
    encode: (text) =>
      orNone(() => {
        const bytes = encode(text);
        return decode(bytes) === text ? bufferOf(bytes) : undefined;
      }),
  };
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>) =>
  Buffer.from(buffer, byteOffset, byteLength);

/** The codecs throw a `TypeError` for what is invalid or lacking. */
function orNone<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** WHATWG URL, application/x-www-form-urlencoded, of the charset's bytes; undefined if it lacks a character. */
export function encodeForm(text: string, { name, encode }: Charset): string | undefined {
  const bytes = encode(text);
  if (!bytes) return undefined;
  if (name === 'utf-8') return new URLSearchParams([['', text]]).toString().slice(1);
  return bytes
    .toString('latin1')
    .replace(/[^*\-._0-9A-Za-z]/g, (c) => (c === ' ' ? '+' : `%${hexadecimalOf(c.charCodeAt(0))}`));
}

const hexadecimalOf = (byte: number) => byte.toString(16).toUpperCase().padStart(2, '0');
