import { randomFillSync } from 'node:crypto';

export const nonceBytes = 12;

/** Drawn for 256 nonces at once, because a draw costs 12 µs whether it yields 12 bytes or 3,072. */
const pool = Buffer.alloc(256 * nonceBytes);
let next = pool.length;

/** Copied out of the pool, because the next draw overwrites the pool. */
export function newNonce(): Buffer {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const nonce = Buffer.from(pool.subarray(next, next + nonceBytes));
  next += nonceBytes;
  return nonce;
}
