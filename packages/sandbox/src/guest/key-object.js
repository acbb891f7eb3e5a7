/** Keys of the module `crypto`. The guest keeps them as text, and Node.js reads them again for each use. */
import { asBuffer, Buffer } from './buffer.js';
import { bufferFromBase64, bytesOf, dataToBase64 } from './bytes.js';
import { bridge } from './host.js';

/** @typedef {{ modulusLength?: number, publicExponent?: string, namedCurve?: string }} Details */
/** @typedef {{ type: string, asymmetricKeyType?: string, details?: Details, pem?: string, secret?: Buffer }} Described */

export class KeyObject {
  /** @type {Described} */
  #described;

  /** @param {Described} described */
  constructor(described) {
    this.#described = described;
  }

  get type() {
    return this.#described.type;
  }

  get asymmetricKeyType() {
    return this.#described.asymmetricKeyType;
  }

  get asymmetricKeyDetails() {
    const { details } = this.#described;
    if (!details) return undefined;
    const { publicExponent, ...rest } = details;
    return publicExponent === undefined ? rest : { ...rest, publicExponent: BigInt(publicExponent) };
  }

  get symmetricKeySize() {
    return this.#described.secret?.length;
  }

  /** @param {{ format?: string, type?: string }} [options] */
  export(options) {
    const { type, pem, secret } = this.#described;
    if (secret) {
      if (options?.format === 'jwk') return { kty: 'oct', k: secret.toString('base64url') };
      return Buffer.from(secret);
    }
    if (options === undefined) {
      throw Object.assign(new TypeError('The "options" argument must be of type object.'), {
        code: 'ERR_INVALID_ARG_TYPE',
      });
    }
    const { base64, value } = /** @type {{ base64?: string, value?: unknown }} */ (
      bridge('exportKey', type, pem, options)
    );
    return base64 === undefined ? value : bufferFromBase64(base64);
  }

  /** @param {KeyObject} other */
  equals(other) {
    const [mine, theirs] = [this.#described, KeyObject.of(other)];
    if (mine.secret && theirs?.secret) return mine.secret.equals(theirs.secret);
    return mine.pem !== undefined && mine.type === theirs?.type && mine.pem === theirs.pem;
  }

  /** @param {unknown} value @returns {Described | undefined} */
  static of(value) {
    return typeof value === 'object' && value !== null && #described in value ? value.#described : undefined;
  }

  get [Symbol.toStringTag]() {
    return 'KeyObject';
  }
}

/** The bytes of a secret key or of data, as base64. @param {unknown} key */
export const secretToBase64 = (key) => dataToBase64(KeyObject.of(key)?.secret ?? key);

/** A key for the bridge, with the options that were given with it. @param {unknown} given */
export function keyOf(given) {
  const isOptions =
    typeof given === 'object' && given !== null && 'key' in given && !KeyObject.of(given) && !ArrayBuffer.isView(given);
  const { key, passphrase, format, type, padding, saltLength, dsaEncoding, oaepHash, oaepLabel } = isOptions
    ? /** @type {Record<string, any>} */ (given)
    : /** @type {Record<string, any>} */ ({ key: given });
  return {
    ...inputOf(key, format, type),
    passphrase: passphrase === undefined ? undefined : true,
    ...{ padding, saltLength, dsaEncoding, oaepHash },
    oaepLabel: oaepLabel === undefined ? undefined : dataToBase64(oaepLabel),
  };
}

/** @param {unknown} key @param {unknown} format @param {unknown} type */
function inputOf(key, format, type) {
  const known = KeyObject.of(key);
  if (known) return { key: known.pem };
  if (format === 'jwk') return { jwk: key };
  if (format === 'der') return { der: dataToBase64(key), type };
  return { key: typeof key === 'string' ? key : asBuffer(bytesOf(key)).toString() };
}

/** @param {string} operation */
const reader = (operation) => /** @param {unknown} given */ (given) =>
  new KeyObject(/** @type {Described} */ (bridge(operation, keyOf(given))));

export const createPrivateKey = reader('privateKey');
export const createPublicKey = reader('publicKey');

/** @param {unknown} key @param {string} [encoding] */
export const createSecretKey = (key, encoding) =>
  new KeyObject({ type: 'secret', secret: Buffer.from(bytesOf(key, encoding)) });
