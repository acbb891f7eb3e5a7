/** The module `util/types`. */
import { withUnavailable } from './unavailable.js';

/** @param {string} tag */
const isTagged = (tag) => /** @param {unknown} value */ (value) =>
  Object.prototype.toString.call(value) === `[object ${tag}]`;

/** @param {new (...parameters: any[]) => unknown} Type */
const isInstance = (Type) => /** @param {unknown} value */ (value) => value instanceof Type;

const arrays = [
  ...['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array'],
  ...['Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'],
];
const boxes = ['Number', 'String', 'Boolean', 'Symbol', 'BigInt'];

/** @param {unknown} value */
const isObject = (value) => typeof value === 'object' && value !== null;

const known = {
  ...Object.fromEntries(arrays.map((name) => [`is${name}`, isTagged(name)])),
  ...Object.fromEntries(
    boxes.map((name) => [
      `is${name}Object`,
      /** @param {unknown} value */ (value) => isObject(value) && isTagged(name)(value),
    ]),
  ),
  isAnyArrayBuffer: isInstance(ArrayBuffer),
  isArgumentsObject: isTagged('Arguments'),
  isArrayBuffer: isInstance(ArrayBuffer),
  isArrayBufferView: ArrayBuffer.isView,
  isAsyncFunction: isTagged('AsyncFunction'),
  isBoxedPrimitive: /** @param {unknown} value */ (value) =>
    isObject(value) && boxes.some((name) => isTagged(name)(value)),
  isDataView: isTagged('DataView'),
  isDate: isInstance(Date),
  isGeneratorFunction: /** @param {unknown} value */ (value) =>
    isTagged('GeneratorFunction')(value) || isTagged('AsyncGeneratorFunction')(value),
  isGeneratorObject: isTagged('Generator'),
  isMap: isInstance(Map),
  isMapIterator: isTagged('Map Iterator'),
  isNativeError: isInstance(Error),
  isPromise: isInstance(Promise),
  isRegExp: isInstance(RegExp),
  isSet: isInstance(Set),
  isSetIterator: isTagged('Set Iterator'),
  isSharedArrayBuffer: () => false,
  isTypedArray: /** @param {unknown} value */ (value) => ArrayBuffer.isView(value) && !(value instanceof DataView),
  isWeakMap: isInstance(WeakMap),
  isWeakSet: isInstance(WeakSet),
};

export const exported = withUnavailable('util.types', known, [
  ...['isCryptoKey', 'isExternal', 'isKeyObject', 'isModuleNamespaceObject', 'isProxy'],
]);
