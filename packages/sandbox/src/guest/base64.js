/** Base64 (RFC 4648) of bytes; `atob` and `btoa` of the HTML standard. */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const urlAlphabet = `${alphabet.slice(0, 62)}-_`;
const values = new Int8Array(128).fill(-1);
for (let index = 0; index < 64; index += 1) {
  values[alphabet.charCodeAt(index)] = index;
  values[urlAlphabet.charCodeAt(index)] = index;
}

/**
 * @param {Uint8Array} bytes
 * @param {boolean} [forUrl] The alphabet of section 5, without padding
 */
export function toBase64(bytes, forUrl = false) {
  const digits = forUrl ? urlAlphabet : alphabet;
  let text = '';
  let index = 0;
  for (; index + 2 < bytes.length; index += 3) {
    const word = (byteAt(bytes, index) << 16) | (byteAt(bytes, index + 1) << 8) | byteAt(bytes, index + 2);
    text +=
      digits[word >> 18] +
      /** @type {string} */ (digits[(word >> 12) & 63]) +
      digits[(word >> 6) & 63] +
      digits[word & 63];
  }
  const rest = bytes.length - index;
  if (rest === 0) return text;
  const word = (byteAt(bytes, index) << 16) | (rest === 2 ? byteAt(bytes, index + 1) << 8 : 0);
  text += digits[word >> 18] + /** @type {string} */ (digits[(word >> 12) & 63]);
  if (rest === 2) text += digits[(word >> 6) & 63];
  return forUrl ? text : text + '='.repeat(3 - rest);
}

/** Takes both alphabets. As in Node.js, `=` ends the text, and other characters are ignored. @param {string} text */
export function fromBase64(text) {
  const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4));
  let length = 0;
  let word = 0;
  let bits = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 61) break;
    const value = code < 128 ? /** @type {number} */ (values[code]) : -1;
    if (value < 0) continue;
    word = ((word << 6) | value) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[length] = (word >> bits) & 255;
      length += 1;
    }
  }
  return bytes.subarray(0, length);
}

/** @param {unknown} data */
export function btoa(data) {
  const text = String(data);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 255) throw invalidCharacter();
    bytes[index] = code;
  }
  return toBase64(bytes);
}

/** @param {unknown} data */
export function atob(data) {
  let text = String(data).replace(/[\t\n\f\r ]/g, '');
  if (text.length % 4 === 0) text = text.replace(/==?$/, '');
  if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) throw invalidCharacter();
  let result = '';
  for (const byte of fromBase64(text)) result += String.fromCharCode(byte);
  return result;
}

/** @param {Uint8Array} bytes @param {number} index */
const byteAt = (bytes, index) => /** @type {number} */ (bytes[index]);

function invalidCharacter() {
  return Object.assign(new Error('Invalid character'), { name: 'InvalidCharacterError', code: 5 });
}
