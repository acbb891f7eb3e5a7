/** The module `timers`. */
import * as timers from './timers.js';
import { exported as promises } from './timers-promises.js';

const { setTimeout, setInterval, setImmediate, clearTimeout } = timers;

export const exported = {
  setTimeout,
  setInterval,
  setImmediate,
  clearTimeout,
  clearInterval: clearTimeout,
  clearImmediate: clearTimeout,
  promises,
};
