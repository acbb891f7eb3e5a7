/** The global `performance`: a clock that never goes back, since the transform's environment was opened. */
import { bridge } from './host.js';
import { withUnavailable } from './unavailable.js';

/** The two readings differ by what it costs to take them; the clock is no finer than that. */
const timeOrigin = Date.now() - now();

function now() {
  return /** @type {number} */ (bridge('clock'));
}

export const performance = withUnavailable('performance', { now, timeOrigin, toJSON: () => ({ timeOrigin }) }, [
  ...['mark', 'measure', 'clearMarks', 'clearMeasures', 'getEntries', 'getEntriesByName', 'getEntriesByType'],
  ...['timerify', 'eventLoopUtilization'],
]);
