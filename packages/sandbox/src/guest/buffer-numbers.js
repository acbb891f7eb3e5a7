/** The methods of Buffer that read and write numbers, made from DataView. */

/** Name, number of bytes, method of DataView. */
const kinds = /** @type {const} */ ([
  ['UInt8', 1, 'Uint8'],
  ['Int8', 1, 'Int8'],
  ['UInt16', 2, 'Uint16'],
  ['Int16', 2, 'Int16'],
  ['UInt32', 4, 'Uint32'],
  ['Int32', 4, 'Int32'],
  ['BigUInt64', 8, 'BigUint64'],
  ['BigInt64', 8, 'BigInt64'],
  ['Float', 4, 'Float32'],
  ['Double', 8, 'Float64'],
]);

/** @typedef {Record<string, unknown>} Methods */

/** @param {object} prototype Of Buffer */
export function addNumberMethods(prototype) {
  for (const [name, size, view] of kinds) {
    for (const order of size === 1 ? [''] : ['LE', 'BE'])
      addPair(prototype, `${name}${order}`, size, view, order === 'LE');
  }
  for (const order of ['LE', 'BE']) addVariable(prototype, order);
}

/** @param {object} prototype @param {string} name @param {number} size @param {string} view @param {boolean} little */
function addPair(prototype, name, size, view, little) {
  define(prototype, `read${name}`, function (offset = 0) {
    check(this, offset, size);
    return Reflect.apply(/** @type {Function} */ (Reflect.get(DataView.prototype, `get${view}`)), viewOf(this), [
      offset,
      little,
    ]);
  });
  define(prototype, `write${name}`, function (value, offset = 0) {
    check(this, offset, size);
    checkRange(name, size, value);
    Reflect.apply(/** @type {Function} */ (Reflect.get(DataView.prototype, `set${view}`)), viewOf(this), [
      offset,
      value,
      little,
    ]);
    return offset + size;
  });
}

/** `readUIntLE(offset, byteLength)` and the like, up to 6 bytes. @param {object} prototype @param {string} order */
function addVariable(prototype, order) {
  /** @param {Uint8Array} buffer @param {number} offset @param {number} length */
  const read = (buffer, offset, length) => {
    check(buffer, offset, length);
    let value = 0;
    for (let index = 0; index < length; index += 1) {
      value =
        value * 256 + /** @type {number} */ (buffer[order === 'BE' ? offset + index : offset + length - 1 - index]);
    }
    return value;
  };
  define(prototype, `readUInt${order}`, function (offset = 0, length = 6) {
    return read(this, offset, length);
  });
  define(prototype, `readInt${order}`, function (offset = 0, length = 6) {
    const value = read(this, offset, length);
    return value >= 2 ** (length * 8 - 1) ? value - 2 ** (length * 8) : value;
  });
  for (const name of ['UInt', 'Int']) {
    define(prototype, `write${name}${order}`, function (value, offset = 0, length = 6) {
      check(this, offset, length);
      checkRange(name, length, value);
      let rest = Number(value) < 0 ? Number(value) + 2 ** (length * 8) : Number(value);
      for (let index = 0; index < length; index += 1) {
        this[order === 'LE' ? offset + index : offset + length - 1 - index] = rest % 256;
        rest = Math.floor(rest / 256);
      }
      return offset + length;
    });
  }
}

/** @param {Uint8Array} buffer */
const viewOf = (buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);

/**
 * @param {object} prototype
 * @param {string} name
 * @param {(this: Uint8Array, first: number, second?: number, third?: number) => unknown} method
 */
function define(prototype, name, method) {
  const alias = name.replace('UInt', 'Uint');
  for (const key of new Set([name, alias])) {
    Object.defineProperty(prototype, key, { value: method, writable: true, configurable: true });
  }
}

/** @param {Uint8Array} buffer @param {unknown} offset @param {number} size */
function check(buffer, offset, size) {
  if (typeof offset !== 'number') {
    throw Object.assign(new TypeError('The "offset" argument must be of type number.'), {
      code: 'ERR_INVALID_ARG_TYPE',
    });
  }
  if (size > buffer.length) {
    throw Object.assign(new RangeError('Attempt to access memory outside buffer bounds'), {
      code: 'ERR_BUFFER_OUT_OF_BOUNDS',
    });
  }
  if (!Number.isInteger(offset) || offset < 0 || offset + size > buffer.length) {
    throw Object.assign(
      new RangeError(
        `The value of "offset" is out of range. It must be >= 0 and <= ${buffer.length - size}. Received ${offset}`,
      ),
      { code: 'ERR_OUT_OF_RANGE' },
    );
  }
}

/** @param {string} name @param {number} size @param {unknown} value */
function checkRange(name, size, value) {
  if (typeof value !== 'number' || !/Int/.test(name)) return;
  const signed = !/UInt/.test(name);
  const maximum = signed ? 2 ** (size * 8 - 1) - 1 : 2 ** (size * 8) - 1;
  const minimum = signed ? -maximum - 1 : 0;
  if (value >= minimum && value <= maximum) return;
  throw Object.assign(
    new RangeError(
      `The value of "value" is out of range. It must be >= ${minimum} and <= ${maximum}. Received ${value}`,
    ),
    { code: 'ERR_OUT_OF_RANGE' },
  );
}
