import { setImmediate } from './timers.js';

/**
 * The form with a callback of a function that works at once. What is wrong with its parameters it throws.
 * @param {(...parameters: any[]) => unknown} work
 */
export const later =
  (work) =>
  /** @param {...any} parameters The last of them is `callback(error, value)` */
  (...parameters) => {
    const callback = parameters.pop();
    if (typeof callback !== 'function') {
      throw Object.assign(new TypeError('The "callback" argument must be of type function.'), {
        code: 'ERR_INVALID_ARG_TYPE',
      });
    }
    setImmediate(callback, null, work(...parameters));
  };
