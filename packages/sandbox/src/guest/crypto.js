/** The module `crypto`: Node's own functions behind the bridge. Chunks are kept and sent when the result is asked for. */

import { Buffer } from './buffer.js';
import { bufferFromBase64, bytesOf, dataToBase64, inEncoding } from './bytes.js';
import { bridge, bridgeText } from './host.js';
import { crypto as webcrypto } from './web-crypto.js';

/** @param {number} size @param {(error: Error | null, bytes?: Buffer) => void} [callback] */
export function randomBytes(size, callback) {
  const bytes = bufferFromBase64(bridgeText('randomBytes', size));
  if (typeof callback !== 'function') return bytes;
  queueMicrotask(() => callback(null, bytes));
  return undefined;
}

/** `randomInt([minimum,] maximum)`, the maximum excluded. @param {number} first @param {number} [second] */
function randomInt(first, second) {
  const [minimum, maximum] = typeof second === 'number' ? [first, second] : [0, first];
  return /** @type {number} */ (bridge('randomInt', minimum, maximum));
}

class Hash {
  /** @type {Uint8Array[]} */
  #chunks = [];
  #done = false;
  #compute;

  /** @param {(dataBase64: string) => string} compute */
  constructor(compute) {
    this.#compute = compute;
  }

  /** @param {unknown} data @param {string} [encoding] */
  update(data, encoding) {
    if (this.#done) throw alreadyCalled();
    this.#chunks.push(Uint8Array.from(bytesOf(data, encoding)));
    return this;
  }

  /** @param {string} [encoding] */
  digest(encoding) {
    if (this.#done) throw alreadyCalled();
    this.#done = true;
    return inEncoding(bufferFromBase64(this.#compute(dataToBase64(Buffer.concat(this.#chunks)))), encoding);
  }
}

/** @param {string} algorithm */
function createHash(algorithm) {
  bridge('hash', algorithm, '');
  return new Hash((data) => bridgeText('hash', algorithm, data));
}

/** @param {string} algorithm @param {unknown} key */
function createHmac(algorithm, key) {
  const keyBase64 = dataToBase64(key);
  bridge('hmac', algorithm, keyBase64, '');
  return new Hash((data) => bridgeText('hmac', algorithm, keyBase64, data));
}

/** AES in GCM or CBC. The cipher itself lives in the host until the invocation ends. */
class Cipher {
  #id;

  /** @param {string} operation @param {string} algorithm @param {unknown} key @param {unknown} iv @param {{ authTagLength?: number }} [options] */
  constructor(operation, algorithm, key, iv, options) {
    this.#id = bridge(operation, algorithm, dataToBase64(key), dataToBase64(iv), options?.authTagLength);
  }

  /** @param {unknown} data @param {string} [inputEncoding] @param {string} [outputEncoding] */
  update(data, inputEncoding, outputEncoding) {
    const result = bridgeText('cipher.update', this.#id, dataToBase64(data, inputEncoding));
    return inEncoding(bufferFromBase64(result), outputEncoding);
  }

  /** @param {string} [outputEncoding] */
  final(outputEncoding) {
    return inEncoding(bufferFromBase64(bridgeText('cipher.final', this.#id)), outputEncoding);
  }

  getAuthTag() {
    return bufferFromBase64(bridgeText('cipher.getAuthTag', this.#id));
  }

  /** @param {unknown} tag @param {string} [encoding] */
  setAuthTag(tag, encoding) {
    bridge('cipher.setAuthTag', this.#id, dataToBase64(tag, encoding));
    return this;
  }

  /** @param {unknown} data */
  setAAD(data) {
    bridge('cipher.setAAD', this.#id, dataToBase64(data));
    return this;
  }

  setAutoPadding(autoPadding = true) {
    bridge('cipher.setAutoPadding', this.#id, autoPadding);
    return this;
  }
}

/** @param {string} operation */
const cipherOf =
  (operation) =>
  /** @param {string} algorithm @param {unknown} key @param {unknown} iv @param {{ authTagLength?: number }} [options] */
  (algorithm, key, iv, options) =>
    new Cipher(operation, algorithm, key, iv, options);

/** @param {unknown} left @param {unknown} right */
function timingSafeEqual(left, right) {
  return /** @type {boolean} */ (bridge('timingSafeEqual', dataToBase64(left), dataToBase64(right)));
}

function alreadyCalled() {
  return Object.assign(new Error('Digest already called'), { code: 'ERR_CRYPTO_HASH_FINALIZED' });
}

export const exported = {
  randomBytes,
  randomInt,
  randomUUID: () => webcrypto.randomUUID(),
  getRandomValues: /** @param {ArrayBufferView} view */ (view) => webcrypto.getRandomValues(view),
  createHash,
  createHmac,
  createCipheriv: cipherOf('cipher.encrypt'),
  createDecipheriv: cipherOf('cipher.decrypt'),
  timingSafeEqual,
  webcrypto,
};
