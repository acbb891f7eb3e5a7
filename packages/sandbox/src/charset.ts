/** The charset of a body: UTF-8, UTF-16, or a single-byte one (WHATWG Encoding). */
export interface Charset {
  /** The name of the WHATWG encoding. */
  readonly name: string;
  /** UTF-16 with a label that does not say the order of its bytes. */
  readonly isUnmarked: boolean;
  /** Undefined if the bytes are invalid. A byte order mark stays. */
  decode(bytes: Uint8Array): string | undefined;
  /** Undefined if the charset lacks a character of the text. */
  encode(text: string): Buffer | undefined;
}

/**
 * The charset that the `Content-Type` names, UTF-8 if it names none. Undefined if it is unknown, or has larger units.
 */
export function charsetOf(contentType: string | undefined, bytes?: Uint8Array): Charset | undefined {
  const label = labelIn(contentType);
  if (label === '') return utf8;
  const name = label === undefined ? undefined : encodingOf(label);
  if (name === undefined) return undefined;
  if (name !== 'utf-16le' || label === 'utf-16le') return charsetNamed(name);
  return { ...charsetNamed(bytes && isBigEndian(bytes) ? 'utf-16be' : name), isUnmarked: true };
}

const parameter = /[;\s]charset\s*=\s*["']?([^"';\s]*)/gi;

/** Empty if there is none. Undefined if there are several, because readers would choose different ones. */
function labelIn(contentType: string | undefined): string | undefined {
  if (contentType === undefined || !/charset/i.test(contentType)) return '';
  const labels = new Set(Array.from(contentType.matchAll(parameter), ([, label = '']) => label.toLowerCase()));
  const [first = ''] = labels;
  return labels.size > 1 ? undefined : first;
}

function encodingOf(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    return known.has(encoding) || oneByte.has(encoding) ? encoding : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const known: ReadonlySet<string> = new Set(['utf-8', 'utf-16le', 'utf-16be']);
/** WHATWG Encoding, section 9. In each of them a byte below 128 is its ASCII character. */
const oneByte: ReadonlySet<string> = new Set([
  'ibm866',
  ...[2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16].map((part) => `iso-8859-${part}`),
  'iso-8859-8-i',
  'koi8-r',
  'koi8-u',
  'macintosh',
  'windows-874',
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((part) => `windows-125${part}`),
  'x-mac-cyrillic',
]);

const charsets = new Map<string, Charset>();

/** @param name of a WHATWG encoding, as {@link Charset.name} has it. */
export function charsetNamed(name: string): Charset {
  const made = charsets.get(name);
  if (made) return made;
  const charset = { name, isUnmarked: false, decode: decoderOf(name), encode: encoderOf(name) };
  charsets.set(name, charset);
  return charset;
}

function decoderOf(name: string): Charset['decode'] {
  const decoder = new TextDecoder(name, { fatal: true, ignoreBOM: true });
  return (bytes) => {
    try {
      return decoder.decode(bytes);
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  };
}

function encoderOf(name: string): Charset['encode'] {
  if (name === 'utf-8') return (text) => (text.isWellFormed() ? Buffer.from(text) : undefined);
  if (name === 'utf-16le') return (text) => (text.isWellFormed() ? Buffer.from(text, 'utf16le') : undefined);
  if (name === 'utf-16be') return (text) => (text.isWellFormed() ? Buffer.from(text, 'utf16le').swap16() : undefined);
  const byteOf = tableOf(name);
  return (text) => {
    const bytes = Buffer.allocUnsafe(text.length);
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      const byte = unit < 0x80 ? unit : byteOf.get(unit);
      if (byte === undefined) return undefined;
      bytes[at] = byte;
    }
    return bytes;
  };
}

/** The bytes of non-ASCII characters. Bytes that encode no character are left out. */
function tableOf(name: string): ReadonlyMap<number, number> {
  const decode = decoderOf(name);
  const byteOf = new Map<number, number>();
  for (let byte = 0x80; byte <= 0xff; byte += 1) {
    const character = decode(Uint8Array.of(byte));
    if (character !== undefined) byteOf.set(character.charCodeAt(0), byte);
  }
  return byteOf;
}

/** By the byte order mark; without it by the first character, which is ASCII in XML, JSON and most text. */
function isBigEndian([first, second]: Uint8Array): boolean {
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== undefined && second !== 0);
}

const utf8: Charset = charsetNamed('utf-8');

/** WHATWG URL, application/x-www-form-urlencoded, of the charset's bytes; undefined if it lacks a character. */
export function encodeForm(text: string, { name, encode }: Charset): string | undefined {
  const bytes = encode(text);
  if (!bytes) return undefined;
  if (name === utf8.name) return new URLSearchParams([['', text]]).toString().slice(1);
  return bytes
    .toString('latin1')
    .replace(/[^*\-._0-9A-Za-z]/g, (c) => (c === ' ' ? '+' : `%${hexadecimalOf(c.charCodeAt(0))}`));
}

const hexadecimalOf = (byte: number) => byte.toString(16).toUpperCase().padStart(2, '0');
