/** Converts text to bytes and back, in the encodings of Node.js's Buffer. */
import { fromBase64, toBase64 } from './base64.js';
import { decodeUtf8, encodeUtf8 } from './utf8.js';

/**
 * @typedef {object} Coding
 * @property {(text: string) => Uint8Array} toBytes
 * @property {(bytes: Uint8Array) => string} toText
 * @property {(text: string) => number} [byteLength] What Node.js tells without decoding
 */

/** @type {Record<string, Coding>} */
const codings = {
  utf8: { toBytes: encodeUtf8, toText: decodeUtf8 },
  hex: { toBytes: fromHex, toText: toHex, byteLength: (text) => text.length >>> 1 },
  base64: { toBytes: fromBase64, toText: (bytes) => toBase64(bytes), byteLength: base64Length },
  base64url: { toBytes: fromBase64, toText: (bytes) => toBase64(bytes, true), byteLength: base64Length },
  latin1: { toBytes: fromLatin1, toText: (bytes) => fromCodes(bytes, 255), byteLength: (text) => text.length },
  ascii: { toBytes: fromLatin1, toText: (bytes) => fromCodes(bytes, 127), byteLength: (text) => text.length },
  utf16le: { toBytes: fromUtf16, toText: toUtf16, byteLength: (text) => text.length * 2 },
};

/** @type {Record<string, string>} */
const aliases = { 'utf-8': 'utf8', binary: 'latin1', 'utf-16le': 'utf16le', ucs2: 'utf16le', 'ucs-2': 'utf16le' };

/** @param {unknown} name */
export function findCoding(name) {
  const lower = String(name ?? 'utf8').toLowerCase();
  return Object.hasOwn(codings, aliases[lower] ?? lower) ? codings[aliases[lower] ?? lower] : undefined;
}

/** @param {unknown} name */
export function coding(name) {
  const found = findCoding(name);
  if (found) return found;
  throw Object.assign(new TypeError(`Unknown encoding: ${String(name)}`), { code: 'ERR_UNKNOWN_ENCODING' });
}

/** @param {string} text */
function base64Length(text) {
  return (text.replace(/==?$/, '').length * 3) >>> 2;
}

/** Ends at the first pair that is not hexadecimal. @param {string} text */
function fromHex(text) {
  const bytes = new Uint8Array(text.length >> 1);
  for (let index = 0; index < bytes.length; index += 1) {
    const pair = text.slice(index * 2, index * 2 + 2);
    if (!/^[\da-fA-F]{2}$/.test(pair)) return bytes.slice(0, index);
    bytes[index] = Number.parseInt(pair, 16);
  }
  return bytes;
}

/** @param {Uint8Array} bytes */
function toHex(bytes) {
  let text = '';
  for (const byte of bytes) text += (byte < 16 ? '0' : '') + byte.toString(16);
  return text;
}

/** @param {string} text */
function fromLatin1(text) {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}

/** @param {Uint8Array} bytes @param {number} mask */
function fromCodes(bytes, mask) {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte & mask);
  return text;
}

/** @param {string} text */
function fromUtf16(text) {
  const bytes = new Uint8Array(text.length * 2);
  for (let index = 0; index < text.length; index += 1) {
    bytes[index * 2] = text.charCodeAt(index);
    bytes[index * 2 + 1] = text.charCodeAt(index) >> 8;
  }
  return bytes;
}

/** @param {Uint8Array} bytes */
function toUtf16(bytes) {
  let text = '';
  for (let index = 0; index + 1 < bytes.length; index += 2) {
    text += String.fromCharCode((bytes[index] ?? 0) | ((bytes[index + 1] ?? 0) << 8));
  }
  return text;
}
