/** The module `crypto`: Node's own functions behind the bridge. Chunks are kept and sent when the result is asked for. */

import { asBuffer, Buffer } from './buffer.js';
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

class Sign extends Signature {
  /** @param {unknown} key A PEM, or an object with it @param {string} [encoding] */
  sign(key, encoding) {
    return inEncoding(bufferFromBase64(/** @type {string} */ (this.finish('sign', key))), encoding);
  }
}

class Verify extends Signature {
  /** @param {unknown} key @param {unknown} signature @param {string} [encoding] */
  verify(key, signature, encoding) {
    return this.finish('verify', key, dataToBase64(signature, encoding));
  }
}

/** A key as text, with the options beside it. @param {unknown} given */
function keyOf(given) {
  const isPlain = typeof given === 'string' || ArrayBuffer.isView(given);
  const { key, passphrase, padding, saltLength, dsaEncoding } = isPlain ? { key: given } : Object(given);
  const pem = typeof key === 'string' ? key : asBuffer(bytesOf(key)).toString();
  return { key: pem, passphrase: passphrase === undefined ? undefined : true, padding, saltLength, dsaEncoding };
}

/** @param {unknown} password @param {unknown} salt @param {number} rounds @param {number} size @param {string} digest */
function pbkdf2Sync(password, salt, rounds, size, digest) {
  return bufferFromBase64(bridgeText('pbkdf2', dataToBase64(password), dataToBase64(salt), rounds, size, digest));
}

/** @param {unknown} password @param {unknown} salt @param {number} size @param {Record<string, number>} [options] */
function scryptSync(password, salt, size, options = {}) {
  const { cost, blockSize, parallelization, N = cost, r = blockSize, p = parallelization, maxmem } = options;
  return bufferFromBase64(bridgeText('scrypt', dataToBase64(password), dataToBase64(salt), size, { N, r, p, maxmem }));
}

const constants = {
  RSA_PKCS1_PADDING: 1,
  RSA_PKCS1_PSS_PADDING: 6,
  RSA_PSS_SALTLEN_DIGEST: -1,
  RSA_PSS_SALTLEN_MAX_SIGN: -2,
  RSA_PSS_SALTLEN_AUTO: -2,
};

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
  createSign: /** @param {string} algorithm */ (algorithm) => new Sign(algorithm),
  createVerify: /** @param {string} algorithm */ (algorithm) => new Verify(algorithm),
  pbkdf2Sync,
  scryptSync,
  constants,
  timingSafeEqual,
  webcrypto,
};
