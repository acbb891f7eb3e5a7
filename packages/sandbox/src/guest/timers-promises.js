/** The module `timers/promises`. */
import { abortError, onAbort } from './abort-error.js';
import * as timers from './timers.js';

/** @typedef {{ signal?: AbortSignal, ref?: boolean }} Options */

/**
 * @param {(done: () => void) => object} start Gives the timer
 * @param {unknown} value
 * @param {Options} [options]
 */
function after(start, value, { signal } = {}) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortError(signal));
      return;
    }
    const timer = start(() => {
      forget();
      resolve(value);
    });
    const forget = onAbort(signal, (error) => {
      timers.clearTimeout(timer);
      reject(error);
    });
  });
}

/** @param {number} [delay] @param {unknown} [value] @param {Options} [options] */
const setTimeout = (delay, value, options) => after((done) => timers.setTimeout(done, delay), value, options);

/** @param {unknown} [value] @param {Options} [options] */
const setImmediate = (value, options) => after((done) => timers.setImmediate(done), value, options);

/** @param {number} [delay] @param {unknown} [value] @param {Options} [options] */
async function* setInterval(delay, value, options) {
  for (;;) yield await setTimeout(delay, value, options);
}

export const exported = {
  setTimeout,
  setImmediate,
  setInterval,
  scheduler: {
    /** @param {number} delay @param {Options} [options] */
    wait: (delay, options) => setTimeout(delay, undefined, options),
    yield: () => setImmediate(),
  },
};
