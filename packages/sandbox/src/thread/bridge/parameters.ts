/** Checks the type of each parameter before Node.js sees it, because parameters come from a Tenant's code. */

export function text(value: unknown): string {
  if (typeof value === 'string') return value;
  throw Object.assign(new TypeError('The argument must be of type string'), { code: 'ERR_INVALID_ARG_TYPE' });
}

/** Bytes come as base64. */
export function bytes(value: unknown): Buffer {
  return Buffer.from(text(value), 'base64');
}

export function integer(value: unknown, maximum: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maximum) return value;
  throw Object.assign(new RangeError(`The value must be an integer from 0 to ${maximum}`), {
    code: 'ERR_OUT_OF_RANGE',
  });
}

/**
 * The name of a hash in lower case, because Node.js stores every spelling until its thread ends.
 * @throws {TypeError} for characters that no name has. Node.js maps some of them to others, and takes a NUL for the
 * end.
 */
export function digestName(value: unknown): string {
  const name = text(value);
  if (/^[\w./-]*$/.test(name)) return name.toLowerCase();
  throw Object.assign(new TypeError(`Invalid digest: ${name}`), { code: 'ERR_CRYPTO_INVALID_DIGEST' });
}

export function optionalText(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : text(value);
}
