import { createSign, createVerify, sign, verify } from 'node:crypto';
import type { Meter } from '../meter.ts';
import { bytes, digestName, integer, optionalText } from './parameters.ts';
import { hashingTypes, readPrivateKey, readPublicKey } from './read-key.ts';

export function signatureOperations(meter: Meter) {
  return {
    sign: (algorithm: unknown, data: unknown, given: unknown) => {
      const key = readPrivateKey(given, hashingTypes);
      meter.spend();
      return createSign(digestName(algorithm))
        .update(bytes(data))
        .sign({ key, ...optionsOf(given) })
        .toString('base64');
    },
    verify: (algorithm: unknown, data: unknown, given: unknown, signature: unknown) => {
      const key = readPublicKey(given, hashingTypes);
      meter.spend();
      return createVerify(digestName(algorithm))
        .update(bytes(data))
        .verify({ key, ...optionsOf(given) }, bytes(signature));
    },
    signOnce: (algorithm: unknown, data: unknown, given: unknown) => {
      const key = readPrivateKey(given);
      meter.spend();
      return sign(optionalDigest(algorithm), bytes(data), { key, ...optionsOf(given) }).toString('base64');
    },
    verifyOnce: (algorithm: unknown, data: unknown, given: unknown, signature: unknown) => {
      const key = readPublicKey(given);
      meter.spend();
      return verify(optionalDigest(algorithm), bytes(data), { key, ...optionsOf(given) }, bytes(signature));
    },
    knowsSignature: (algorithm: unknown) => void createSign(digestName(algorithm)),
  };
}

const optionalDigest = (algorithm: unknown) =>
  algorithm === null || algorithm === undefined ? undefined : digestName(algorithm);

interface Given {
  padding?: unknown;
  saltLength?: unknown;
  dsaEncoding?: unknown;
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
