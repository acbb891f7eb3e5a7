/**
 * The module `crypto`: Node's own functions behind the bridge. The bridge gets all chunks at once, when the result is
 * requested.
 */
import { Buffer } from './buffer.js';
import { bufferFromBase64, bytesOf, dataToBase64, inEncoding } from './bytes.js';
import { bridge, bridgeText } from './host.js';
import { createPrivateKey, createPublicKey, createSecretKey, KeyObject, keyOf, secretToBase64 } from './key-object.js';
import { later } from './later.js';
import { Sign, sign, Verify, verify } from './signatures.js';
import { withUnavailable } from './unavailable.js';
import { crypto as webcrypto } from './web-crypto.js';

/** @param {number} size @param {(error: Error | null, bytes?: Buffer) => void} [callback] */
export function randomBytes(size, callback) {
  const bytes = bufferFromBase64(bridgeText('randomBytes', size));
  if (typeof callback !== 'function') return bytes;
  queueMicrotask(() => callback(null, bytes));
  return undefined;
}

/** `randomInt([minimum,] maximum, [callback])`, the maximum excluded. @param {number} first @param {...any} rest */
function randomInt(first, ...rest) {
  const callback = typeof rest.at(-1) === 'function' ? rest.pop() : undefined;
  const [minimum, maximum] = rest.length > 0 ? [first, rest[0]] : [0, first];
  const choose = () => /** @type {number} */ (bridge('randomInt', minimum, maximum));
  return callback ? later(choose)(callback) : choose();
}

/** @template {ArrayBufferView | ArrayBuffer} T @param {T} view @param {number} [offset] In elements @param {number} [size] @returns {T} */
function randomFillSync(view, offset = 0, size) {
  const elementBytes = 'BYTES_PER_ELEMENT' in view ? Number(view.BYTES_PER_ELEMENT) : 1;
  const target = bytesOf(view);
  const start = offset * elementBytes;
  const end = size === undefined ? target.length : start + size * elementBytes;
  if (!(start >= 0 && start <= end && end <= target.length)) {
    throw Object.assign(new RangeError('The value of "offset" or "size" is out of range.'), {
      code: 'ERR_OUT_OF_RANGE',
    });
  }
  target.set(randomBytes(end - start) ?? [], start);
  return view;
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

  /** A hash that continues with the same chunks. */
  copy() {
    if (this.#done) throw alreadyCalled();
    const copy = new Hash(this.#compute);
    copy.#chunks = [...this.#chunks];
    return copy;
  }

  /** @param {string} [encoding] */
  digest(encoding) {
    if (this.#done) throw alreadyCalled();
    this.#done = true;
    return inEncoding(bufferFromBase64(this.#compute(dataToBase64(Buffer.concat(this.#chunks)))), encoding);
  }
}

/** @param {string} algorithm @param {{ outputLength?: number }} [options] */
function createHash(algorithm, { outputLength } = {}) {
  bridge('hash', algorithm, '', outputLength);
  return new Hash((data) => bridgeText('hash', algorithm, data, outputLength));
}

/** @param {string} algorithm @param {unknown} key */
function createHmac(algorithm, key) {
  const keyBase64 = secretToBase64(key);
  bridge('hmac', algorithm, keyBase64, '');
  return new Hash((data) => bridgeText('hmac', algorithm, keyBase64, data));
}

/** AES in GCM or CBC, Triple DES in CBC or ECB. The cipher itself lives in the host until the run ends. */
class Cipher {
  #id;

  /** @param {string} operation @param {string} algorithm @param {unknown} key @param {unknown} iv @param {{ authTagLength?: number }} [options] */
  constructor(operation, algorithm, key, iv, options) {
    this.#id = bridge(operation, algorithm, secretToBase64(key), ivToBase64(iv), options?.authTagLength);
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

/** ECB has none. @param {unknown} iv */
const ivToBase64 = (iv) => (iv === null ? '' : dataToBase64(iv));

/** @param {string} operation */
const cipherOf =
  (operation) =>
  /** @param {string} algorithm @param {unknown} key @param {unknown} iv @param {{ authTagLength?: number }} [options] */
  (algorithm, key, iv, options) =>
    new Cipher(operation, algorithm, key, iv, options);

/** @param {unknown} left @param {unknown} right */
function timingSafeEqual(left, right) {
  for (const value of [left, right]) {
    if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) continue;
    throw Object.assign(
      new TypeError('The arguments must be instances of ArrayBuffer, Buffer, TypedArray, or DataView.'),
      {
        code: 'ERR_INVALID_ARG_TYPE',
      },
    );
  }
  return /** @type {boolean} */ (bridge('timingSafeEqual', dataToBase64(left), dataToBase64(right)));
}

/** @param {unknown} password @param {unknown} salt @param {number} rounds @param {number} size @param {string} digest */
function pbkdf2Sync(password, salt, rounds, size, digest) {
  return bufferFromBase64(bridgeText('pbkdf2', secretToBase64(password), dataToBase64(salt), rounds, size, digest));
}

/** @param {unknown} password @param {unknown} salt @param {number} size @param {Record<string, number>} [options] */
function scryptSync(password, salt, size, options = {}) {
  const { cost, blockSize, parallelization, N = cost, r = blockSize, p = parallelization, maxmem } = options;
  return bufferFromBase64(
    bridgeText('scrypt', secretToBase64(password), dataToBase64(salt), size, { N, r, p, maxmem }),
  );
}

/** @param {string} digest @param {unknown} key @param {unknown} salt @param {unknown} info @param {number} size */
function hkdfSync(digest, key, salt, info, size) {
  const [saltBase64, infoBase64] = [dataToBase64(salt), dataToBase64(info)];
  const parameters = { digest, key: secretToBase64(key), salt: saltBase64, info: infoBase64, size };
  return Uint8Array.from(bufferFromBase64(bridgeText('hkdf', parameters))).buffer;
}

/** @param {string} operation */
const withKey = (operation) => /** @param {unknown} key @param {unknown} data */ (key, data) =>
  bufferFromBase64(bridgeText(operation, keyOf(key), dataToBase64(data)));

const constants = {
  RSA_PKCS1_PADDING: 1,
  RSA_NO_PADDING: 3,
  RSA_PKCS1_OAEP_PADDING: 4,
  RSA_PKCS1_PSS_PADDING: 6,
  RSA_PSS_SALTLEN_DIGEST: -1,
  RSA_PSS_SALTLEN_MAX_SIGN: -2,
  RSA_PSS_SALTLEN_AUTO: -2,
};

function alreadyCalled() {
  return Object.assign(new Error('Digest already called'), { code: 'ERR_CRYPTO_HASH_FINALIZED' });
}

const ciphers = [
  ...[128, 192, 256].flatMap((bits) => [`aes-${bits}-cbc`, `aes-${bits}-gcm`]),
  ...['des-ede3', 'des-ede3-cbc', 'des-ede3-ecb', 'des3'],
];

const functions = {
  randomBytes,
  randomFill: later((view, ...rest) => randomFillSync(view, ...rest)),
  randomFillSync,
  randomInt,
  randomUUID: () => webcrypto.randomUUID(),
  getRandomValues: /** @param {ArrayBufferView} view */ (view) => webcrypto.getRandomValues(view),
  createHash,
  createHmac,
  createCipheriv: cipherOf('cipher.encrypt'),
  createDecipheriv: cipherOf('cipher.decrypt'),
  createSign: /** @param {string} algorithm */ (algorithm) => new Sign(algorithm),
  createVerify: /** @param {string} algorithm */ (algorithm) => new Verify(algorithm),
  sign,
  verify,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  KeyObject,
  publicEncrypt: withKey('publicEncrypt'),
  privateDecrypt: withKey('privateDecrypt'),
  pbkdf2: later(pbkdf2Sync),
  pbkdf2Sync,
  scrypt: later(scryptSync),
  scryptSync,
  hkdf: later(hkdfSync),
  hkdfSync,
  getHashes: () => bridge('getHashes'),
  getCiphers: () => [...ciphers],
  constants,
  timingSafeEqual,
  webcrypto,
};

export const exported = withUnavailable('crypto', functions, [
  ...[
    'createCipher',
    'createDecipher',
    'publicDecrypt',
    'privateEncrypt',
    'getCurves',
    'getCipherInfo',
    'X509Certificate',
  ],
  ...['createDiffieHellman', 'createDiffieHellmanGroup', 'getDiffieHellman', 'diffieHellman', 'createECDH', 'ECDH'],
  ...['generateKey', 'generateKeySync', 'generateKeyPair', 'generateKeyPairSync', 'generatePrime', 'generatePrimeSync'],
  ...['checkPrime', 'checkPrimeSync', 'setEngine', 'secureHeapUsed', 'getFips', 'setFips'],
]);
