import { createPrivateKey, createPublicKey, createSign, createVerify, type KeyObject } from 'node:crypto';
import type { Meter } from '../meter.ts';
import { bytes, integer, optionalText, text } from './parameters.ts';

/** What a signature of RSA costs grows with the third power of it. */
const maximumModulusBits = 8_192;
/** A PEM of the largest key, and of a certificate with room for its names. */
const maximumPemLength = 16_384;
/** Of a private key of RSA: a hostile one may have primes that are longer than its modulus. */
const privateBytes = (bits: number) => 200 + 0.6 * bits;
const supported = ['rsa', 'rsa-pss', 'ec'];

interface Given {
  key: string;
  passphrase?: unknown;
  padding?: unknown;
  saltLength?: unknown;
  dsaEncoding?: unknown;
}

export function signatureOperations(meter: Meter) {
  return {
    sign: (algorithm: unknown, data: unknown, given: unknown) => {
      const key = checked(createPrivateKey(pemOf(given)));
      meter.spend();
      return createSign(text(algorithm))
        .update(bytes(data))
        .sign({ key, ...optionsOf(given) })
        .toString('base64');
    },
    verify: (algorithm: unknown, data: unknown, given: unknown, signature: unknown) => {
      const key = checked(createPublicKey(pemOf(given)));
      meter.spend();
      return createVerify(text(algorithm))
        .update(bytes(data))
        .verify({ key, ...optionsOf(given) }, bytes(signature));
    },
    knowsSignature: (algorithm: unknown) => void createSign(text(algorithm)),
  };
}

/** Never with a passphrase: an encrypted key says itself how much work it is to be opened. */
function pemOf(given: unknown): string {
  const { key, passphrase } = Object(given) as Given;
  const pem = text(key);
  if (pem.length > maximumPemLength) throw new RangeError(`A key has at most ${maximumPemLength} characters`);
  if (passphrase || /ENCRYPTED/.test(pem)) {
    throw new TypeError('Encrypted private keys are not supported: use a PEM without a passphrase');
  }
  return pem;
}

function optionsOf(given: unknown) {
  const { padding, saltLength, dsaEncoding } = Object(given) as Given;
  const encoding = optionalText(dsaEncoding);
  return {
    ...(typeof padding === 'number' && { padding: integer(padding, 100) }),
    ...(typeof saltLength === 'number' && { saltLength }),
    ...(encoding && { dsaEncoding: encoding as 'der' }),
  };
}

/** Nothing can stop a signature while it is made, so keys have a bound. */
function checked(key: KeyObject): KeyObject {
  const { asymmetricKeyType: type = 'unknown', asymmetricKeyDetails: { modulusLength = 0, namedCurve } = {} } = key;
  if (!supported.includes(type))
    throw new TypeError(`Keys of type ${type} are not supported: use ${supported.join(', ')}`);
  if (type === 'ec' && namedCurve === undefined) throw new TypeError('Only named curves are supported');
  if (modulusLength > maximumModulusBits) throw new RangeError(`A key has at most ${maximumModulusBits} bits`);
  const isPrivateRsa = type !== 'ec' && key.type === 'private';
  if (isPrivateRsa && key.export({ format: 'der', type: 'pkcs8' }).length > privateBytes(modulusLength)) {
    throw new RangeError('A part of the key is longer than its modulus allows');
  }
  return key;
}
