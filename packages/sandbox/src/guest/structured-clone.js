/** `structuredClone` (HTML standard) of the values that a transform can have. */

const errorTypes = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

/** @template T @param {T} value @returns {T} */
export function structuredClone(value) {
  return /** @type {T} */ (clone(value, new Map()));
}

/** @param {unknown} value @param {Map<object, object>} seen @returns {unknown} */
function clone(value, seen) {
  if (typeof value === 'function' || typeof value === 'symbol') throw uncloneable(value);
  if (typeof value !== 'object' || value === null) return value;
  const known = seen.get(value);
  if (known) return known;
  const copy = emptyCopy(value);
  seen.set(value, copy);
  copyMembers(value, copy, (member) => clone(member, seen));
  return copy;
}

/** @param {object} value @param {object} copy @param {(member: unknown) => unknown} inner */
function copyMembers(value, copy, inner) {
  if (value instanceof Map && copy instanceof Map)
    for (const [key, member] of [...value]) copy.set(inner(key), inner(member));
  if (value instanceof Set && copy instanceof Set) for (const member of [...value]) copy.add(inner(member));
  if (!Array.isArray(value) && !isPlain(value)) return;
  for (const key of Object.keys(value)) Object.defineProperty(copy, key, own(inner(Reflect.get(value, key))));
}

/** @param {object} value @returns {object} */
function emptyCopy(value) {
  if (Array.isArray(value)) return new Array(value.length);
  if (value instanceof Map) return new Map();
  if (value instanceof Set) return new Set();
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (value instanceof DataView)
    return new DataView(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength));
  if (ArrayBuffer.isView(value)) return cloneView(/** @type {Uint8Array} */ (value));
  if (value instanceof Error) return cloneError(value);
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return Object(value.valueOf());
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef)
    throw uncloneable(value);
  return {};
}

/** Copies bytes; a Buffer becomes a Uint8Array. @param {Uint8Array} view */
function cloneView(view) {
  const ViewType = /** @type {Uint8ArrayConstructor} */ (Reflect.get(globalThis, view[Symbol.toStringTag]));
  return new ViewType(view);
}

/** @param {Error} error */
function cloneError(error) {
  const ErrorType = Object.hasOwn(errorTypes, error.name)
    ? errorTypes[/** @type {keyof typeof errorTypes} */ (error.name)]
    : Error;
  const copy = new ErrorType(error.message);
  Object.defineProperty(copy, 'stack', { value: error.stack, writable: true, configurable: true });
  return copy;
}

/** @param {object} value */
const isPlain = (value) => Object.prototype.toString.call(value) === '[object Object]';

/** @param {unknown} value */
const own = (value) => ({ value, writable: true, enumerable: true, configurable: true });

/** @param {unknown} value */
function uncloneable(value) {
  const text = typeof value === 'object' ? Object.prototype.toString.call(value) : String(value);
  return Object.assign(new Error(`${text} could not be cloned.`), { name: 'DataCloneError', code: 25 });
}
