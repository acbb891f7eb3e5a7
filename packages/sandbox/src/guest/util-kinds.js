/** `util.isString` and the like, which Node.js 16 still has. */

/** @param {unknown} value */
const isObject = (value) => typeof value === 'object' && value !== null;
/** @param {string} type */
const isOfType = (type) => /** @param {unknown} value */ (value) => typeof value === type;

export const kinds = {
  isBoolean: isOfType('boolean'),
  isBuffer: /** @param {unknown} value */ (value) => globalThis.Buffer.isBuffer(value),
  isDate: /** @param {unknown} value */ (value) => value instanceof Date,
  isError: /** @param {unknown} value */ (value) => value instanceof Error,
  isFunction: isOfType('function'),
  isNull: /** @param {unknown} value */ (value) => value === null,
  isNullOrUndefined: /** @param {unknown} value */ (value) => value === null || value === undefined,
  isNumber: isOfType('number'),
  isObject,
  isPrimitive: /** @param {unknown} value */ (value) => !isObject(value) && typeof value !== 'function',
  isRegExp: /** @param {unknown} value */ (value) => value instanceof RegExp,
  isString: isOfType('string'),
  isSymbol: isOfType('symbol'),
  isUndefined: isOfType('undefined'),
};
