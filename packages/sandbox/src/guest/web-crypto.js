/** The global `crypto`: `randomUUID`, `getRandomValues` and `subtle.digest`. */
import { fromBase64 } from './base64.js';
import { dataToBase64 } from './bytes.js';
import { bridgeText } from './host.js';

/** @type {Record<string, string>} */
const digests = { 'SHA-1': 'sha1', 'SHA-256': 'sha256', 'SHA-384': 'sha384', 'SHA-512': 'sha512' };

export const crypto = {
  randomUUID: () => bridgeText('randomUUID'),

  /** @template {ArrayBufferView} T @param {T} view */
  getRandomValues(view) {
    if (
      !ArrayBuffer.isView(view) ||
      view instanceof Float32Array ||
      view instanceof Float64Array ||
      view instanceof DataView
    ) {
      throw Object.assign(new TypeError('The data argument must be an integer-type TypedArray'), {
        name: 'TypeMismatchError',
      });
    }
    if (view.byteLength > 65_536) {
      throw Object.assign(new Error('The requested length exceeds 65,536 bytes'), { name: 'QuotaExceededError' });
    }
    const bytes = fromBase64(bridgeText('randomBytes', view.byteLength));
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(bytes);
    return view;
  },

  subtle: {
    /** @param {string | { name: string }} algorithm @param {unknown} data @returns {Promise<ArrayBuffer>} */
    async digest(algorithm, data) {
      const name = String(typeof algorithm === 'object' ? algorithm.name : algorithm).toUpperCase();
      const hash = digests[name];
      if (hash === undefined) {
        throw Object.assign(new Error('Unrecognized algorithm name'), { name: 'NotSupportedError' });
      }
      return fromBase64(bridgeText('hash', hash, dataToBase64(data))).slice().buffer;
    },
  },
};
