/** The module `zlib`: its synchronous functions, which Node.js runs in steps under the limits of the run. */
import { bufferFromBase64, dataToBase64 } from './bytes.js';
import { bridge, bridgeText } from './host.js';

/** What Node.js reads of the options, beside `dictionary` and `params`. */
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

export const exported = {
  deflateSync: run('deflateSync'),
  inflateSync: run('inflateSync'),
  deflateRawSync: run('deflateRawSync'),
  inflateRawSync: run('inflateRawSync'),
  gzipSync: run('gzipSync'),
  gunzipSync: run('gunzipSync'),
  unzipSync: run('unzipSync'),
  brotliCompressSync: run('brotliCompressSync'),
  brotliDecompressSync: run('brotliDecompressSync'),
  constants: /** @type {Record<string, number>} */ (bridge('zlib.constants')),
};
