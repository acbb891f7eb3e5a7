/** `Buffer`: a Uint8Array with the methods of Node.js. */
import { coding, findCoding } from './buffer-coding.js';
import { addNumberMethods } from './buffer-numbers.js';
import { inspect } from './inspect.js';
import { encodeUtf8 } from './utf8.js';

/**
 * Only the type of instances, because the static methods of Uint8Array (`from`, `of`) have other parameters than Node's.
 * @type {new (...parameters: unknown[]) => Uint8Array<ArrayBuffer>}
 */
const Bytes = Uint8Array;

class FastBuffer extends Bytes {
  static poolSize = 8192;

  /** The class of the results of `map` and the like. */
  static get [Symbol.species]() {
    return FastBuffer;
  }

  /**
   * @param {unknown} value Text, bytes, an array of numbers, an ArrayBuffer, or what `toJSON` gave
   * @param {unknown} [second] Encoding, or the offset in an ArrayBuffer
   * @param {number} [length]
   * @returns {Buffer}
   */
  static from(value, second, length) {
    if (typeof value === 'string') return asBuffer(coding(second).toBytes(value));
    if (value instanceof ArrayBuffer)
      return new FastBuffer(value, ...[second, length].filter((part) => part !== undefined));
    if (typeof value === 'object' && value !== null) {
      const primitive = value.valueOf();
      if (primitive !== value && primitive !== null && primitive !== undefined)
        return Buffer.from(primitive, second, length);
      const list = 'data' in value && 'type' in value && value.type === 'Buffer' ? value.data : value;
      if (Array.isArray(list) || ArrayBuffer.isView(list) || 'length' in value) {
        return new FastBuffer(Array.from(/** @type {ArrayLike<number>} */ (list)));
      }
    }
    throw invalidType(
      'The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object.',
    );
  }

  /** @param {number} size @param {unknown} [fill] @param {string} [encoding] */
  static alloc(size, fill, encoding) {
    if (typeof size !== 'number') throw invalidType('The "size" argument must be of type number.');
    const buffer = new FastBuffer(size);
    return fill === undefined || fill === 0 ? buffer : buffer.fill(/** @type {string} */ (fill), encoding);
  }

  /** @param {number} size */
  static allocUnsafe(size) {
    return Buffer.alloc(size);
  }

  /** @param {number} size */
  static allocUnsafeSlow(size) {
    return Buffer.alloc(size);
  }

  /** @param {Uint8Array[]} list @param {number} [length] */
  static concat(list, length = list.reduce((sum, part) => sum + part.length, 0)) {
    const whole = new FastBuffer(length);
    let offset = 0;
    for (const part of list) {
      if (offset >= length) break;
      whole.set(part.subarray(0, length - offset), offset);
      offset += part.length;
    }
    return whole;
  }

  /** @param {unknown} value @returns {value is Buffer} */
  static isBuffer(value) {
    return value instanceof FastBuffer;
  }

  /** @param {unknown} name */
  static isEncoding(name) {
    return typeof name === 'string' && name !== '' && findCoding(name) !== undefined;
  }

  /** @param {string | ArrayBuffer | ArrayBufferView} value @param {string} [encoding] */
  static byteLength(value, encoding) {
    if (typeof value !== 'string') return value.byteLength;
    return findCoding(encoding)?.byteLength?.(value) ?? encodeUtf8(value).length;
  }

  /** @param {Uint8Array} left @param {Uint8Array} right */
  static compare(left, right) {
    const length = Math.min(left.length, right.length);
    for (let index = 0; index < length; index += 1) {
      const difference = /** @type {number} */ (left[index]) - /** @type {number} */ (right[index]);
      if (difference !== 0) return difference < 0 ? -1 : 1;
    }
    return Math.sign(left.length - right.length);
  }

  get parent() {
    return this.buffer;
  }

  /** @param {string} [encoding] @param {number} [start] @param {number} [end] @returns {string} @override */
  toString(encoding, start = 0, end = this.length) {
    return coding(encoding).toText(this.subarray(Math.max(start, 0), Math.max(end, 0)));
  }

  /** @override */
  toLocaleString() {
    return this.toString();
  }

  toJSON() {
    return { type: 'Buffer', data: Array.from(this) };
  }

  /** @param {Uint8Array} other */
  equals(other) {
    return Buffer.compare(this, other) === 0;
  }

  /** @param {Uint8Array} target @param {number} [targetStart] @param {number} [targetEnd] @param {number} [start] @param {number} [end] */
  compare(target, targetStart, targetEnd, start, end) {
    return Buffer.compare(this.subarray(start, end), target.subarray(targetStart, targetEnd));
  }

  /** @param {Uint8Array} target @param {number} [targetStart] @param {number} [start] @param {number} [end] */
  copy(target, targetStart = 0, start = 0, end = this.length) {
    const part = this.subarray(start, Math.min(end, start + Math.max(target.length - targetStart, 0)));
    target.set(part, targetStart);
    return part.length;
  }

  /** Shares the memory, as in Node.js, while `slice` of a Uint8Array copies it. @param {number} [start] @param {number} [end] @override */
  slice(start, end) {
    return this.subarray(start, end);
  }

  /** @param {number} [start] @param {number} [end] @returns {Buffer} @override */
  subarray(start, end) {
    return /** @type {Buffer} */ (super.subarray(start, end));
  }

  /** `write(text, [offset, [length]], [encoding])`. @param {string} text @param {...unknown} rest */
  write(text, ...rest) {
    const encoding = rest.find((value) => typeof value === 'string');
    const [offset = 0, length = this.length - offset] = rest.filter((value) => typeof value === 'number');
    const bytes = coding(encoding).toBytes(text);
    const room = Math.min(length, this.length - offset, bytes.length);
    this.set(bytes.subarray(0, wholeCharacters(bytes, room, encoding)), offset);
    return wholeCharacters(bytes, room, encoding);
  }

  /**
   * @param {string | number | Uint8Array} value
   * @param {...unknown} rest `[offset, [end]], [encoding]`
   * @returns {this}
   */
  // @ts-expect-error Node's fill takes text and an encoding, Uint8Array's does not
  fill(value, ...rest) {
    const [start = 0, end = this.length] = rest.filter((part) => typeof part === 'number');
    const pattern = toPattern(
      value,
      rest.find((part) => typeof part === 'string'),
    );
    if (pattern.length === 0) return /** @type {this} */ (super.fill(0, start, end));
    for (let index = start; index < end; index += 1)
      this[index] = /** @type {number} */ (pattern[(index - start) % pattern.length]);
    return this;
  }

  /** @param {string | number | Uint8Array} value @param {number | string} [offset] @param {string} [encoding] */
  // @ts-expect-error As above
  indexOf(value, offset, encoding) {
    const pattern = toPattern(value, typeof offset === 'string' ? offset : encoding);
    const from = typeof offset === 'number' ? (offset < 0 ? Math.max(this.length + offset, 0) : offset) : 0;
    for (let index = from; index + pattern.length <= this.length; index += 1)
      if (isAt(this, pattern, index)) return index;
    return -1;
  }

  /** @param {string | number | Uint8Array} value @param {number | string} [offset] @param {string} [encoding] */
  // @ts-expect-error As above
  lastIndexOf(value, offset, encoding) {
    const pattern = toPattern(value, typeof offset === 'string' ? offset : encoding);
    const last = this.length - pattern.length;
    const from = typeof offset === 'number' ? Math.min(offset < 0 ? this.length + offset : offset, last) : last;
    for (let index = from; index >= 0; index -= 1) if (isAt(this, pattern, index)) return index;
    return -1;
  }

  /** @param {string | number | Uint8Array} value @param {number | string} [offset] @param {string} [encoding] */
  // @ts-expect-error As above
  includes(value, offset, encoding) {
    return this.indexOf(value, offset, encoding) !== -1;
  }

  swap16() {
    return this.#swap(2);
  }

  swap32() {
    return this.#swap(4);
  }

  swap64() {
    return this.#swap(8);
  }

  /** @param {number} size */
  #swap(size) {
    if (this.length % size !== 0) throw new RangeError(`Buffer size must be a multiple of ${size * 8}-bits`);
    for (let index = 0; index < this.length; index += size) this.subarray(index, index + size).reverse();
    return this;
  }

  [inspect.custom]() {
    const bytes = Array.from(super.subarray(0, 50), (byte) => byte.toString(16).padStart(2, '0'));
    return `<Buffer${bytes.map((byte) => ` ${byte}`).join('')}${this.length > 50 ? ` ... ${this.length - 50} more bytes` : ''}>`;
  }
}

addNumberMethods(FastBuffer.prototype);

/**
 * Works with `new`, and as a function, because code that is older than `Buffer.from` calls it.
 * @param {unknown} value @param {unknown} [second] @param {number} [length]
 * @returns {FastBuffer}
 */
function BufferFunction(value, second, length) {
  if (typeof value !== 'number') return FastBuffer.from(value, second, length);
  if (typeof second === 'string') throw invalidType('The "string" argument must be of type string.');
  return FastBuffer.alloc(value);
}
Object.setPrototypeOf(BufferFunction, FastBuffer);
Object.defineProperty(BufferFunction, 'name', { value: 'Buffer' });
BufferFunction.prototype = FastBuffer.prototype;
Object.defineProperty(FastBuffer.prototype, 'constructor', {
  value: BufferFunction,
  writable: true,
  configurable: true,
});

/** @typedef {FastBuffer} Buffer */
export const Buffer = /** @type {typeof FastBuffer} */ (/** @type {unknown} */ (BufferFunction));

/** A Buffer that shares the memory. @param {Uint8Array} bytes */
export function asBuffer(bytes) {
  return new FastBuffer(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** @param {string | number | Uint8Array} value @param {unknown} encoding */
function toPattern(value, encoding) {
  if (typeof value === 'string') return coding(encoding).toBytes(value);
  return typeof value === 'number' ? Uint8Array.of(value) : value;
}

/** @param {Uint8Array} bytes @param {Uint8Array} pattern @param {number} at */
function isAt(bytes, pattern, at) {
  for (let index = 0; index < pattern.length; index += 1) if (bytes[at + index] !== pattern[index]) return false;
  return true;
}

/** Never writes a part of a character of UTF-8. @param {Uint8Array} bytes @param {number} room @param {unknown} encoding */
function wholeCharacters(bytes, room, encoding) {
  if (room >= bytes.length || !/^utf-?8$/i.test(String(encoding ?? 'utf8'))) return Math.max(room, 0);
  let end = room;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

/** @param {string} message */
function invalidType(message) {
  return Object.assign(new TypeError(message), { code: 'ERR_INVALID_ARG_TYPE' });
}
