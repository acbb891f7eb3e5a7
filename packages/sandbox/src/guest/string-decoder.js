/** The module `string_decoder`: decodes bytes that come in pieces, without splitting a character. */
import { Buffer } from './buffer.js';
import { coding, findCoding } from './buffer-coding.js';
import { bytesOf } from './bytes.js';
import { Utf8Decoder } from './utf8.js';

/** How many bytes belong together in each encoding; UTF-8 has its own decoder. @type {Record<string, number>} */
const groups = { base64: 3, base64url: 3, utf16le: 2, 'utf-16le': 2, ucs2: 2, 'ucs-2': 2 };

export class StringDecoder {
  #left = new Uint8Array(0);
  #utf8 = new Utf8Decoder(false);
  #isUtf8;

  /** @param {unknown} [encoding] */
  constructor(encoding) {
    const name = String(encoding ?? 'utf8').toLowerCase();
    coding(name);
    this.encoding = findCoding(name) === findCoding('latin1') ? 'latin1' : name.replace('utf-8', 'utf8');
    if (/^(ucs-?2|utf-16le)$/.test(name)) this.encoding = 'utf16le';
    this.#isUtf8 = this.encoding === 'utf8';
  }

  /** @param {unknown} data */
  write(data) {
    if (typeof data === 'string') return data;
    const bytes = bytesOf(data);
    if (this.#isUtf8) return this.#utf8.write(bytes);
    const whole = Buffer.concat([this.#left, bytes]);
    const end = this.#endOfWhole(whole);
    this.#left = Uint8Array.from(whole.subarray(end));
    return whole.toString(this.encoding, 0, end);
  }

  /** @param {unknown} [data] */
  end(data) {
    const text = data === undefined ? '' : this.write(data);
    if (this.#isUtf8) return text + this.#utf8.end();
    const rest = Buffer.from(this.#left).toString(this.encoding);
    this.#left = new Uint8Array(0);
    return text + rest;
  }

  /** The end of the last complete group of bytes. @param {Uint8Array} bytes */
  #endOfWhole(bytes) {
    const end = bytes.length - (bytes.length % (groups[this.encoding] ?? 1));
    const isHighSurrogate = this.encoding === 'utf16le' && ((bytes[end - 1] ?? 0) & 0xfc) === 0xd8;
    return isHighSurrogate ? end - 2 : end;
  }
}

export const exported = { StringDecoder };
