/** The module `util`. */
import { isDeepEqual } from './deep-equal.js';
import { format, inspect } from './inspect.js';
import { TextDecoder, TextEncoder } from './text-coding.js';

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

/** @param {string} tag */
const isTagged = (tag) => /** @param {unknown} value */ (value) =>
  Object.prototype.toString.call(value) === `[object ${tag}]`;

const types = {
  isAnyArrayBuffer: /** @param {unknown} value */ (value) => value instanceof ArrayBuffer,
  isArrayBuffer: /** @param {unknown} value */ (value) => value instanceof ArrayBuffer,
  isArrayBufferView: ArrayBuffer.isView,
  isAsyncFunction: isTagged('AsyncFunction'),
  isDate: /** @param {unknown} value */ (value) => value instanceof Date,
  isGeneratorFunction: isTagged('GeneratorFunction'),
  isMap: /** @param {unknown} value */ (value) => value instanceof Map,
  isNativeError: /** @param {unknown} value */ (value) => value instanceof Error,
  isPromise: /** @param {unknown} value */ (value) => value instanceof Promise,
  isRegExp: /** @param {unknown} value */ (value) => value instanceof RegExp,
  isSet: /** @param {unknown} value */ (value) => value instanceof Set,
  isSymbolObject: isTagged('Symbol'),
  isTypedArray: /** @param {unknown} value */ (value) => ArrayBuffer.isView(value) && !(value instanceof DataView),
  isUint8Array: /** @param {unknown} value */ (value) => value instanceof Uint8Array,
  isWeakMap: /** @param {unknown} value */ (value) => value instanceof WeakMap,
  isWeakSet: /** @param {unknown} value */ (value) => value instanceof WeakSet,
};

export const exported = {
  callbackify,
  /** @template {Function} T @param {T} original */
  deprecate: (original) => original,
  format,
  inherits,
  inspect,
  isArray: Array.isArray,
  /** @param {unknown} left @param {unknown} right */
  isDeepStrictEqual: (left, right) => isDeepEqual(left, right, true),
  promisify,
  TextDecoder,
  TextEncoder,
  types,
};
