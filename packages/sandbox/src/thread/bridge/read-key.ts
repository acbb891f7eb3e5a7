import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { bytes, text } from './parameters.ts';

/** The time of an RSA signature grows with the third power of its modulus. */
const maximumModulusBits = 8_192;
/** Enough for a PEM of the largest key, and of a certificate with its names. */
const maximumPemLength = 16_384;
/** Limit for a private RSA key, because a hostile one may have primes that are longer than its modulus. */
const privateBytes = (bits: number) => 200 + 0.6 * bits;
const supported = ['rsa', 'rsa-pss', 'ec', 'ed25519', 'ed448'];
export const hashingTypes = ['rsa', 'rsa-pss', 'ec'];

/** PEM, DER as base64 with its type, or JWK. */
interface Given {
  key?: unknown;
  der?: unknown;
  type?: unknown;
  jwk?: unknown;
  passphrase?: unknown;
}

export const readPrivateKey = (given: unknown, types = supported): KeyObject =>
  checked(createPrivateKey(inputOf(given) as string), types);

export const readPublicKey = (given: unknown, types = supported): KeyObject =>
  checked(createPublicKey(inputOf(given) as string), types);

/** Refuses encrypted keys, because the key itself decides how long decrypting it takes. */
function inputOf(given: unknown): object | string {
  const { key, der, type, jwk, passphrase } = Object(given) as Given;
  const isText = typeof key === 'string';
  const size = isText ? key.length : typeof der === 'string' ? der.length : JSON.stringify(jwk ?? '').length;
  if (size > maximumPemLength) throw new RangeError(`A key has at most ${maximumPemLength} characters`);
  if (passphrase || (isText && /ENCRYPTED/.test(key))) {
    throw new TypeError('Encrypted private keys are not supported: use a PEM without a passphrase');
  }
  if (typeof jwk === 'object' && jwk !== null) return { key: jwk, format: 'jwk' };
  return typeof der === 'string' ? { key: bytes(der), format: 'der', type: text(type) } : text(key);
}

/** Limits the size of keys, because a signature cannot be stopped. */
function checked(key: KeyObject, types: string[]): KeyObject {
  const { asymmetricKeyType: type = 'unknown', asymmetricKeyDetails: { modulusLength = 0, namedCurve } = {} } = key;
  if (!types.includes(type)) throw new TypeError(`Keys of type ${type} are not supported: use ${types.join(', ')}`);
  if (type === 'ec' && namedCurve === undefined) throw new TypeError('Only named curves are supported');
  if (modulusLength > maximumModulusBits) throw new RangeError(`A key has at most ${maximumModulusBits} bits`);
  const isPrivateRsa = type !== 'ec' && key.type === 'private';
  if (isPrivateRsa && key.export({ format: 'der', type: 'pkcs8' }).length > privateBytes(modulusLength)) {
    throw new RangeError('A part of the key is longer than its modulus allows');
  }
  return key;
}
