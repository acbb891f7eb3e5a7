/** The module `stream/promises`. */
export { promises as exported } from './stream.js';
