import { randomFillSync } from 'node:crypto';

export const nonceBytes = 12;

/** Holds 256 nonces, because a call for random bytes takes 12 µs, whether for 12 bytes or for 3,072. */
const pool = Buffer.alloc(256 * nonceBytes);
let next = pool.length;

/** A copy, because the next draw overwrites the pool. */
export function randomNonce(): Buffer {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const nonce = Buffer.from(pool.subarray(next, next + nonceBytes));
  next += nonceBytes;
  return nonce;
}
