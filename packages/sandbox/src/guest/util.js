/** The module `util`. */
import { isDeepEqual } from './deep-equal.js';
import { format, formatWithOptions, inspect } from './inspect.js';
import { TextDecoder, TextEncoder } from './text-coding.js';
import { withUnavailable } from './unavailable.js';
import { kinds } from './util-kinds.js';
import { exported as types } from './util-types.js';

/** @param {Function} original Takes a callback `(error, value)` as its last parameter */
function promisify(original) {
  const custom = Reflect.get(original, promisify.custom);
  if (typeof custom === 'function') return custom;
  /** @type {(this: unknown, ...parameters: unknown[]) => Promise<unknown>} */
  const promisified = function (...parameters) {
    return new Promise((resolve, reject) => {
      /** @param {unknown} error @param {unknown} value */
      const settle = (error, value) => (error ? reject(error) : resolve(value));
      Reflect.apply(original, this, [...parameters, settle]);
    });
  };
  return promisified;
}
promisify.custom = Symbol.for('nodejs.util.promisify.custom');

/** @param {Function} original Answers a promise */
function callbackify(original) {
  /** @type {(this: unknown, ...parameters: unknown[]) => void} */
  const callbackified = function (...parameters) {
    const callback = /** @type {Function} */ (parameters.pop());
    Reflect.apply(original, this, parameters).then(
      /** @param {unknown} value */ (value) => callback(null, value),
      /** @param {unknown} error */ (error) => callback(error),
    );
  };
  return callbackified;
}

/** @param {Function} child @param {Function} parent */
function inherits(child, parent) {
  Object.defineProperty(child, 'super_', { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(child.prototype, parent.prototype);
}

/** `util.debuglog`, with everything switched off. */
const debuglog = () => Object.assign(() => {}, { enabled: false });

/** @param {string} text */
function stripVTControlCharacters(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what it is about
  return text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007]*\u0007/g, '');
}

export const exported = withUnavailable(
  'util',
  {
    callbackify,
    debug: debuglog,
    debuglog,
    /** @template {Function} T @param {T} original */
    deprecate: (original) => original,
    format,
    formatWithOptions,
    inherits,
    inspect,
    isArray: Array.isArray,
    /** @param {unknown} left @param {unknown} right */
    isDeepStrictEqual: (left, right) => isDeepEqual(left, right, true),
    ...kinds,
    promisify,
    stripVTControlCharacters,
    TextDecoder,
    TextEncoder,
    toUSVString: /** @param {unknown} text */ (text) => String(text).toWellFormed(),
    types,
  },
  [
    'aborted',
    'getSystemErrorMap',
    'getSystemErrorName',
    'log',
    'parseArgs',
    'parseEnv',
    'styleText',
    'transferableAbortController',
  ],
);
