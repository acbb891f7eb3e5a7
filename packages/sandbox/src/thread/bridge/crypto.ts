import { createHash, createHmac, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import { bytes, integer, text } from './parameters.ts';

const maximumRandomBytes = 2 ** 20;

export const cryptoOperations = {
  randomUUID: () => randomUUID(),
  randomBytes: (size: unknown) => randomBytes(integer(size, maximumRandomBytes)).toString('base64'),
  randomInt: (minimum: unknown, maximum: unknown) => randomInt(Number(minimum), Number(maximum)),
  hash: (algorithm: unknown, data: unknown) => createHash(text(algorithm)).update(bytes(data)).digest('base64'),
  hmac: (algorithm: unknown, key: unknown, data: unknown) =>
    createHmac(text(algorithm), bytes(key)).update(bytes(data)).digest('base64'),
  timingSafeEqual: (left: unknown, right: unknown) => timingSafeEqual(bytes(left), bytes(right)),
};
