import { atob, btoa } from './base64.js';
import { Buffer } from './buffer.js';

const largest = 2 ** 31 - 1;

export const exported = {
  Buffer,
  /** @param {number} size */
  SlowBuffer: (size) => Buffer.alloc(size),
  atob,
  btoa,
  kMaxLength: largest,
  kStringMaxLength: 2 ** 29 - 24,
  INSPECT_MAX_BYTES: 50,
  constants: { MAX_LENGTH: largest, MAX_STRING_LENGTH: 2 ** 29 - 24 },
};
