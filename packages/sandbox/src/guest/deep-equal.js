/** Deep equality of `util.isDeepStrictEqual`, and the loose one of `assert.deepEqual`. */

/**
 * @param {unknown} left
 * @param {unknown} right
 * @param {boolean} strict
 * @param {Map<object, object>} [seen] Pairs that are being compared, for circular values
 * @returns {boolean}
 */
export function isDeepEqual(left, right, strict, seen = new Map()) {
  if (Object.is(left, right) || (!strict && left === right)) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    // biome-ignore lint/suspicious/noDoubleEquals: what the loose form means
    return !strict && typeof left !== 'object' && typeof right !== 'object' && left == right;
  }
  if (strict && Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false;
  if (Object.prototype.toString.call(left) !== Object.prototype.toString.call(right)) return false;
  if (seen.get(left) === right) return true;
  seen.set(left, right);
  const equal = isSameContent(left, right, (a, b) => isDeepEqual(a, b, strict, seen));
  seen.delete(left);
  return equal;
}

/** @param {object} left @param {object} right @param {(a: unknown, b: unknown) => boolean} same */
function isSameContent(left, right, same) {
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  if (left instanceof RegExp && right instanceof RegExp)
    return String(left) === String(right) && left.lastIndex === right.lastIndex;
  if (left instanceof Error && right instanceof Error && (left.message !== right.message || left.name !== right.name))
    return false;
  if (left instanceof Number || left instanceof String || left instanceof Boolean) {
    if (!Object.is(left.valueOf(), right.valueOf())) return false;
  }
  if (left instanceof Map && right instanceof Map) {
    return left.size === right.size && [...left].every(([key, value]) => hasEntry(right, key, value, same));
  }
  if (left instanceof Set && right instanceof Set) {
    return (
      left.size === right.size &&
      [...left].every((value) => right.has(value) || [...right].some((other) => same(value, other)))
    );
  }
  if (left instanceof ArrayBuffer && right instanceof ArrayBuffer)
    return same(new Uint8Array(left), new Uint8Array(right));
  return isSameMembers(left, right, same);
}

/** @param {Map<unknown, unknown>} map @param {unknown} key @param {unknown} value @param {(a: unknown, b: unknown) => boolean} same */
function hasEntry(map, key, value, same) {
  if (map.has(key)) return same(value, map.get(key));
  return typeof key === 'object' && [...map].some(([other, content]) => same(key, other) && same(value, content));
}

/** @param {object} left @param {object} right @param {(a: unknown, b: unknown) => boolean} same */
function isSameMembers(left, right, same) {
  if (Array.isArray(left) && Array.isArray(right) && left.length !== right.length) return false;
  const keys = ownKeys(left);
  if (keys.length !== ownKeys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && same(Reflect.get(left, key), Reflect.get(right, key)));
}

/** @param {object} value */
function ownKeys(value) {
  return Reflect.ownKeys(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));
}
