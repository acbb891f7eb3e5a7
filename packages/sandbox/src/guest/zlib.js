/**
 * The module `zlib`. Node.js compresses in steps within the limits of the run. Functions with a callback and streams begin
 * when they have all of their input.
 */

import { Buffer } from './buffer.js';
import { bufferFromBase64, dataToBase64 } from './bytes.js';
import { bridge, bridgeText, host } from './host.js';
import { setImmediate } from './timers.js';

/** The options that Node.js reads, apart from `dictionary` and `params`. */
const numbers = ['flush', 'finishFlush', 'chunkSize', 'windowBits', 'level', 'memLevel', 'strategy', 'maxOutputLength'];

/** @param {object} options */
function optionsOf(options) {
  /** @type {Record<string, unknown>} */
  const copy = {};
  for (const name of numbers) copy[name] = Reflect.get(options, name);
  const { dictionary, params } = /** @type {{ dictionary?: unknown, params?: object }} */ (options);
  if (dictionary !== undefined) copy.dictionary = dataToBase64(dictionary);
  if (params !== undefined) copy.params = { ...params };
  return copy;
}

/** @param {string} method */
const run =
  (method) =>
  /** @param {unknown} data @param {object} [options] */
  (data, options = {}) =>
    bufferFromBase64(bridgeText('zlib', method, dataToBase64(data), optionsOf(options)));

/** @param {string} method */
const runLater =
  (method) =>
  /** @param {unknown} data @param {...any} rest `[options], callback` */
  (data, ...rest) => {
    const callback = rest.pop();
    if (typeof callback !== 'function') {
      throw Object.assign(new TypeError('The "callback" argument must be of type function.'), {
        code: 'ERR_INVALID_ARG_TYPE',
      });
    }
    try {
      setImmediate(callback, null, run(method)(data, rest[0]));
    } catch (error) {
      setImmediate(callback, error);
    }
  };

/** @param {string} method */
const stream =
  (method) =>
  /** @param {object} [options] */
  (options) => {
    const { Transform } = /** @type {any} */ (host.load('stream').exported);
    /** @type {Uint8Array[]} */
    const chunks = [];
    return new Transform({
      /** @param {Uint8Array} chunk @param {string} _encoding @param {() => void} done */
      transform(chunk, _encoding, done) {
        chunks.push(chunk);
        done();
      },
      /** @param {(error: unknown, bytes?: Uint8Array) => void} done */
      flush: (done) => runLater(method)(Buffer.concat(chunks), options, done),
    });
  };

const methods = ['deflate', 'inflate', 'deflateRaw', 'inflateRaw', 'gzip', 'gunzip', 'unzip', 'brotliCompress'];

export const exported = {
  ...Object.fromEntries(
    [...methods, 'brotliDecompress'].flatMap((name) => [
      [`${name}Sync`, run(`${name}Sync`)],
      [name, runLater(`${name}Sync`)],
      [`create${/** @type {string} */ (name[0]).toUpperCase()}${name.slice(1)}`, stream(`${name}Sync`)],
    ]),
  ),
  constants: /** @type {Record<string, number>} */ (bridge('zlib.constants')),
};
