/** Converts the data that callers pass to base64, the form in which bytes reach the host, and back. */
import { fromBase64, toBase64 } from './base64.js';
import { asBuffer } from './buffer.js';
import { coding } from './buffer-coding.js';

/**
 * @param {unknown} data Text, a TypedArray, a DataView or an ArrayBuffer
 * @param {unknown} [encoding] Of text
 */
export function dataToBase64(data, encoding) {
  return toBase64(bytesOf(data, encoding));
}

/** @param {unknown} data @param {unknown} [encoding] */
export function bytesOf(data, encoding) {
  if (typeof data === 'string') return coding(encoding).toBytes(data);
  if (data instanceof Uint8Array) return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw Object.assign(
    new TypeError('The data must be of type string or an instance of Buffer, TypedArray, or DataView.'),
    {
      code: 'ERR_INVALID_ARG_TYPE',
    },
  );
}

/**
 * @param {Uint8Array} bytes
 * @param {unknown} [encoding] Without one: a Buffer
 */
export function inEncoding(bytes, encoding) {
  const buffer = asBuffer(bytes);
  return encoding === undefined || encoding === null || encoding === 'buffer'
    ? buffer
    : buffer.toString(String(encoding));
}

/** @param {string} base64 */
export const bufferFromBase64 = (base64) => asBuffer(fromBase64(base64));
