/** Signatures of the module `crypto`. */
import { Buffer } from './buffer.js';
import { bufferFromBase64, bytesOf, dataToBase64, inEncoding } from './bytes.js';
import { bridge, bridgeText } from './host.js';
import { keyOf } from './key-object.js';
import { later } from './later.js';

class Signature {
  /** @type {Uint8Array[]} */
  #chunks = [];
  #algorithm;

  /** @param {string} algorithm */
  constructor(algorithm) {
    bridge('knowsSignature', algorithm);
    this.#algorithm = algorithm;
  }

  /** @param {unknown} data @param {string} [encoding] */
  update(data, encoding) {
    this.#chunks.push(Uint8Array.from(bytesOf(data, encoding)));
    return this;
  }

  /** @param {string} operation @param {unknown} key @param {...unknown} rest */
  finish(operation, key, ...rest) {
    return bridge(operation, this.#algorithm, dataToBase64(Buffer.concat(this.#chunks)), keyOf(key), ...rest);
  }
}

export class Sign extends Signature {
  /** @param {unknown} key A PEM, or an object with it @param {string} [encoding] */
  sign(key, encoding) {
    return inEncoding(bufferFromBase64(/** @type {string} */ (this.finish('sign', key))), encoding);
  }
}

export class Verify extends Signature {
  /** @param {unknown} key @param {unknown} signature @param {string} [encoding] */
  verify(key, signature, encoding) {
    return this.finish('verify', key, dataToBase64(signature, encoding));
  }
}

/** @param {string | null | undefined} algorithm @param {unknown} data @param {unknown} key */
const signNow = (algorithm, data, key) =>
  bufferFromBase64(bridgeText('signOnce', algorithm ?? null, dataToBase64(data), keyOf(key)));

/** @param {string | null | undefined} algorithm @param {unknown} data @param {unknown} key @param {unknown} signature */
const verifyNow = (algorithm, data, key, signature) =>
  bridge('verifyOnce', algorithm ?? null, dataToBase64(data), keyOf(key), dataToBase64(signature));

/** `sign(algorithm, data, key, [callback])`. @param {any} algorithm @param {unknown} data @param {unknown} key @param {Function} [callback] */
export const sign = (algorithm, data, key, callback) =>
  callback ? later(signNow)(algorithm, data, key, callback) : signNow(algorithm, data, key);

/** @param {any} algorithm @param {unknown} data @param {unknown} key @param {unknown} signature @param {Function} [callback] */
export const verify = (algorithm, data, key, signature, callback) =>
  callback ? later(verifyNow)(algorithm, data, key, signature, callback) : verifyNow(algorithm, data, key, signature);
