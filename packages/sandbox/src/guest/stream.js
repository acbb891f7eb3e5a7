/**
 * The module `stream`: Node's own, from the package readable-stream. Its files are CommonJS, and get from here the few
 * modules that they require.
 */
import { AbortController, AbortSignal } from './abort.js';
import { Buffer } from './buffer.js';
import { exported as events } from './events.js';
import { host } from './host.js';
import { exported as stringDecoder } from './string-decoder.js';
import { afterwards } from './timers.js';

const folder = 'readable-stream/';

/** @type {Record<string, unknown>} */
const provided = {
  'abort-controller': { AbortController, AbortSignal },
  buffer: { Buffer },
  events,
  'process/': {
    env: {},
    emitWarning() {},
    /** @param {Function} callback @param {...unknown} parameters */
    nextTick: (callback, ...parameters) => void afterwards(callback, parameters),
  },
  'string_decoder/': stringDecoder,
};

/** @typedef {{ exports: Record<string, unknown> }} Module */
/** @type {Map<string, Module>} */
const modules = new Map();

/** @param {string} path Within the package, without ending */
function load(path) {
  const known = modules.get(path);
  if (known) return known.exports;
  /** @type {Module} */
  const module = { exports: {} };
  modules.set(path, module);
  const body = /** @type {Function} */ (host.load(folder + path).body);
  /** @param {string} name */
  const require = (name) => (name.startsWith('.') ? load(resolve(path, name)) : provided[name]);
  Reflect.apply(body, module.exports, [module.exports, require, module]);
  return module.exports;
}

/** @param {string} from @param {string} name */
function resolve(from, name) {
  const parts = from.split('/').slice(0, -1);
  for (const part of name.replace(/\.js$/, '').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

export const exported = load('lib/stream');
export const promises = load('lib/stream/promises');
