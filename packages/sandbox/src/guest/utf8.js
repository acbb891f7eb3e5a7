/** UTF-8 (WHATWG Encoding): each maximal part of ill-formed input becomes one U+FFFD. */

/** @param {string} text */
export function encodeUtf8(text) {
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    let code = text.charCodeAt(index);
    if (code >= 0xd800 && code < 0xe000) {
      code = text.codePointAt(index) ?? code;
      if (code > 0xffff) index += 1;
      else code = 0xfffd;
    }
    if (code < 0x80) {
      bytes[length++] = code;
      continue;
    }
    if (code < 0x800) bytes[length++] = 0xc0 | (code >> 6);
    else {
      if (code < 0x10000) bytes[length++] = 0xe0 | (code >> 12);
      else {
        bytes[length++] = 0xf0 | (code >> 18);
        bytes[length++] = 0x80 | ((code >> 12) & 63);
      }
      bytes[length++] = 0x80 | ((code >> 6) & 63);
    }
    bytes[length++] = 0x80 | (code & 63);
  }
  return bytes.slice(0, length);
}

/** @param {Uint8Array} bytes */
export function decodeUtf8(bytes) {
  const decoder = new Utf8Decoder(false);
  return decoder.write(bytes) + decoder.end();
}

/** A decoder that keeps the start of a character for the next chunk. */
export class Utf8Decoder {
  needed = 0;
  codePoint = 0;
  lower = 0x80;
  upper = 0xbf;

  /** @param {boolean} fatal Throw a TypeError instead of replacing */
  constructor(fatal) {
    this.fatal = fatal;
  }

  /** @param {Uint8Array} bytes */
  write(bytes) {
    let text = '';
    /** @type {number[]} */
    let codes = [];
    for (let index = 0; index < bytes.length; index += 1) {
      const byte = /** @type {number} */ (bytes[index]);
      if (this.needed > 0 && (byte < this.lower || byte > this.upper)) {
        codes.push(this.#replacement());
        this.#lead(byte, codes);
      } else if (this.needed > 0) {
        this.#continue(byte, codes);
      } else if (byte < 0x80) {
        codes.push(byte);
      } else {
        this.#lead(byte, codes);
      }
      if (codes.length > 4000) {
        text += String.fromCodePoint(...codes);
        codes = [];
      }
    }
    return text + String.fromCodePoint(...codes);
  }

  end() {
    return this.needed > 0 ? String.fromCodePoint(this.#replacement()) : '';
  }

  /** @param {number} byte @param {number[]} codes */
  #lead(byte, codes) {
    this.lower = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    this.upper = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    if (byte < 0x80) codes.push(byte);
    else if (byte >= 0xc2 && byte <= 0xdf) this.#expect(1, byte & 0x1f);
    else if (byte >= 0xe0 && byte <= 0xef) this.#expect(2, byte & 0x0f);
    else if (byte >= 0xf0 && byte <= 0xf4) this.#expect(3, byte & 0x07);
    else codes.push(this.#replacement());
  }

  /** @param {number} needed @param {number} codePoint */
  #expect(needed, codePoint) {
    this.needed = needed;
    this.codePoint = codePoint;
  }

  /** @param {number} byte @param {number[]} codes */
  #continue(byte, codes) {
    this.lower = 0x80;
    this.upper = 0xbf;
    this.codePoint = (this.codePoint << 6) | (byte & 63);
    this.needed -= 1;
    if (this.needed === 0) codes.push(this.codePoint);
  }

  #replacement() {
    this.needed = 0;
    if (this.fatal) throw new TypeError('The encoded data was not valid for encoding utf-8');
    return 0xfffd;
  }
}
