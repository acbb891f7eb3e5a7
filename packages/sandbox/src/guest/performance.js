/** The global `performance`: a clock that never goes back, since the transform's environment was opened. */
import { bridge } from './host.js';

/** The two readings differ by what it costs to take them; the clock is no finer than that. */
const timeOrigin = Date.now() - now();

function now() {
  return /** @type {number} */ (bridge('clock'));
}

export const performance = {
  now,
  timeOrigin,
  toJSON: () => ({ timeOrigin }),
};
