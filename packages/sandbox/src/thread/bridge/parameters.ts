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

export function optionalText(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : text(value);
}
