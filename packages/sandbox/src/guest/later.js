import { setImmediate } from './timers.js';

/**
 * Gives a synchronous function a callback. Errors of its parameters are thrown, and not passed to the callback.
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
