/** Describes in plain text anything that the Tenant's code threw, so that the host can read it. */
import { describeResponse, describeServiceError } from './errors.js';

const toText = String;
const { apply } = Reflect;
const sliceText = String.prototype.slice;
const maximumLength = 2000;

/**
 * Makes a `GuestFailure` of the thread. It has no prototype, because a `toJSON` on Object.prototype would rewrite it.
 * @param {unknown} thrown
 */
export function describe(thrown) {
  if (typeof thrown !== 'object' || thrown === null) {
    return { __proto__: null, kind: 'error', message: text(() => thrown) ?? 'undefined' };
  }
  const response = describeResponse(thrown);
  if (response) return { __proto__: null, kind: 'response', ...response };
  return {
    __proto__: null,
    kind: 'error',
    ...describeServiceError(thrown),
    name: text(() => /** @type {Error} */ (thrown).name),
    message: text(() => ('message' in thrown ? thrown.message : thrown)),
    stack: text(() => /** @type {Error} */ (thrown).stack),
  };
}

/**
 * Undefined where there is none, as the name of an object that is no Error.
 * @param {() => unknown} read Code of the Tenant may run here: a getter, a toString.
 */
function text(read) {
  try {
    const value = read();
    if (value === undefined) return undefined;
    return apply(sliceText, typeof value === 'symbol' ? 'a symbol' : toText(value), [0, maximumLength]);
  } catch {
    return 'an error without text';
  }
}
