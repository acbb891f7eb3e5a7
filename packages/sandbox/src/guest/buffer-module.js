import { atob, btoa } from './base64.js';
import { Buffer } from './buffer.js';

export const exported = { Buffer, atob, btoa, kMaxLength: 2 ** 31 - 1, constants: { MAX_LENGTH: 2 ** 31 - 1 } };
