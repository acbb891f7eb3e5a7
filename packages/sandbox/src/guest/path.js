/** The module `path`, in its POSIX form; the working directory is `/`. */
import { bridge } from './host.js';

/** @param {string} method */
const forward =
  (method) =>
  /** @param {...unknown} parameters */
  (...parameters) =>
    bridge('path', method, parameters);

/** @type {Record<string, unknown>} */
const path = { sep: '/', delimiter: ':' };
for (const method of [
  'basename',
  'dirname',
  'extname',
  'format',
  'isAbsolute',
  'join',
  'normalize',
  'parse',
  'relative',
  'resolve',
]) {
  path[method] = forward(method);
}
path.posix = path;

export { path as exported };
