/** `TextEncoder` and `TextDecoder` (WHATWG Encoding) for UTF-8, UTF-16LE and the encodings of one byte. */
import { toBase64 } from './base64.js';
import { bridgeText } from './host.js';
import { encodeUtf8, Utf8Decoder } from './utf8.js';

export class TextEncoder {
  get encoding() {
    return 'utf-8';
  }

  encode(text = '') {
    return encodeUtf8(String(text));
  }

  /** @param {string} text @param {Uint8Array} target */
  encodeInto(text, target) {
    let read = 0;
    let written = 0;
    for (const character of text) {
      const bytes = encodeUtf8(character);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += character.length;
    }
    return { read, written };
  }
}

export class TextDecoder {
  #bomSeen = false;
  /** @type {Utf8Decoder | Utf16Decoder | OneByteDecoder} */
  #decoder;

  /** @param {string} [label] @param {{ fatal?: boolean, ignoreBOM?: boolean }} [options] */
  constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
    const name = String(label).trim().toLowerCase();
    this.encoding = /^(utf-?8|unicode-1-1-utf-8)$/.test(name)
      ? 'utf-8'
      : /^(utf-16(le)?|ucs-2|unicode)$/.test(name)
        ? 'utf-16le'
        : bridgeText('encodingOfOneByte', String(label));
    this.fatal = Boolean(fatal);
    this.ignoreBOM = Boolean(ignoreBOM);
    this.#decoder = this.#newDecoder();
  }

  /** @param {ArrayBuffer | ArrayBufferView} [input] @param {{ stream?: boolean }} [options] */
  decode(input = new Uint8Array(0), { stream = false } = {}) {
    let text = this.#decoder.write(bytesOf(input));
    if (!stream) text += this.#decoder.end();
    if (!this.ignoreBOM && !this.#bomSeen && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    this.#bomSeen = stream && (this.#bomSeen || text !== '');
    if (!stream) this.#decoder = this.#newDecoder();
    return text;
  }

  #newDecoder() {
    if (this.encoding === 'utf-8') return new Utf8Decoder(this.fatal);
    return this.encoding === 'utf-16le' ? new Utf16Decoder() : new OneByteDecoder(this.encoding, this.fatal);
  }
}

/** A decoder without state between pieces. */
class OneByteDecoder {
  #encoding;
  #fatal;

  /** @param {string} encoding @param {boolean} fatal */
  constructor(encoding, fatal) {
    this.#encoding = encoding;
    this.#fatal = fatal;
  }

  /** @param {Uint8Array} bytes */
  write(bytes) {
    return bridgeText('decodeOneByte', this.#encoding, toBase64(bytes), this.#fatal);
  }

  end() {
    return '';
  }
}

class Utf16Decoder {
  /** @type {number | undefined} */
  #low;

  /** @param {Uint8Array} bytes */
  write(bytes) {
    let text = '';
    for (const byte of bytes) {
      if (this.#low === undefined) this.#low = byte;
      else {
        text += String.fromCharCode(this.#low | (byte << 8));
        this.#low = undefined;
      }
    }
    return text;
  }

  end() {
    return this.#low === undefined ? '' : '\ufffd';
  }
}

/** @param {ArrayBuffer | ArrayBufferView} input */
function bytesOf(input) {
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  throw new TypeError('The "input" argument must be an instance of ArrayBuffer or ArrayBufferView.');
}
