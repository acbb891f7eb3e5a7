import { randomFillSync } from 'node:crypto';

export const nonceBytes = 12;

/** Random bytes are drawn for many nonces at once: a draw costs 12 µs, whether of 12 bytes or of 3,072. */
const pool = Buffer.alloc(256 * nonceBytes);
let next = pool.length;

/** A random 96-bit nonce. Each part of the pool is given out once and copied, so that the next draw leaves it as it is. */
export function newNonce(): Buffer {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const nonce = Buffer.from(pool.subarray(next, next + nonceBytes));
  next += nonceBytes;
  return nonce;
}
