import { createHash, createHmac, getHashes, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import { bytes, digestName, integer } from './parameters.ts';

const maximumRandomBytes = 2 ** 20;

export const cryptoOperations = {
  randomUUID: () => randomUUID(),
  randomBytes: (size: unknown) => randomBytes(integer(size, maximumRandomBytes)).toString('base64'),
  randomInt: (minimum: unknown, maximum: unknown) => randomInt(Number(minimum), Number(maximum)),
  hash: (algorithm: unknown, data: unknown, length: unknown) => {
    const options = typeof length === 'number' ? { outputLength: integer(length, maximumRandomBytes) } : {};
    return createHash(digestName(algorithm), options).update(bytes(data)).digest('base64');
  },
  getHashes: () => getHashes(),
  hmac: (algorithm: unknown, key: unknown, data: unknown) =>
    createHmac(digestName(algorithm), bytes(key)).update(bytes(data)).digest('base64'),
  timingSafeEqual: (left: unknown, right: unknown) => timingSafeEqual(bytes(left), bytes(right)),
};
