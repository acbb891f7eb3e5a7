import { constants, hkdfSync, type KeyObject, privateDecrypt, publicEncrypt } from 'node:crypto';
import type { Meter } from '../meter.ts';
import { bytes, digestName, integer, optionalText } from './parameters.ts';
import { readPrivateKey, readPublicKey } from './read-key.ts';

const maximumDerivedBytes = 2 ** 20;
const paddings = [constants.RSA_PKCS1_PADDING, constants.RSA_NO_PADDING, constants.RSA_PKCS1_OAEP_PADDING];

export function keyOperations(meter: Meter) {
  return {
    privateKey: (given: unknown) => describe(readPrivateKey(given)),
    publicKey: (given: unknown) => describe(readPublicKey(given)),
    exportKey: (kind: unknown, pem: unknown, options: unknown) => {
      const { format = 'pem', type, cipher, passphrase } = Object(options);
      if (cipher || passphrase) throw new TypeError('Encrypted private keys are not supported');
      const key = kind === 'private' ? readPrivateKey({ key: pem }) : readPublicKey({ key: pem });
      const exported: unknown = key.export({ format, type } as { format: 'jwk' });
      return Buffer.isBuffer(exported) ? { base64: exported.toString('base64') } : { value: exported };
    },
    publicEncrypt: (given: unknown, data: unknown) => {
      const key = readPublicKey(given);
      meter.spend();
      return publicEncrypt({ key, ...paddingOf(given) }, bytes(data)).toString('base64');
    },
    privateDecrypt: (given: unknown, data: unknown) => {
      const key = readPrivateKey(given);
      meter.spend();
      return privateDecrypt({ key, ...paddingOf(given) }, bytes(data)).toString('base64');
    },
    hkdf: (parameters: unknown) => {
      const { digest, key, salt, info, size } = Object(parameters);
      const length = integer(size, maximumDerivedBytes);
      return Buffer.from(hkdfSync(digestName(digest), bytes(key), bytes(salt), bytes(info), length)).toString('base64');
    },
  };
}

function describe(key: KeyObject) {
  const isPrivate = key.type === 'private';
  const { modulusLength, publicExponent, namedCurve } = key.asymmetricKeyDetails ?? {};
  return {
    type: key.type,
    asymmetricKeyType: key.asymmetricKeyType,
    details: { modulusLength, publicExponent: publicExponent?.toString(), namedCurve },
    pem: key.export({ format: 'pem', type: isPrivate ? 'pkcs8' : 'spki' }),
  };
}

function paddingOf(given: unknown) {
  const { padding = constants.RSA_PKCS1_OAEP_PADDING, oaepHash, oaepLabel } = Object(given);
  if (!paddings.includes(padding)) throw new TypeError('Unknown padding');
  const hash = optionalText(oaepHash) && digestName(oaepHash);
  const label = optionalText(oaepLabel);
  return { padding, ...(hash && { oaepHash: hash }), ...(label !== undefined && { oaepLabel: bytes(label) }) };
}
