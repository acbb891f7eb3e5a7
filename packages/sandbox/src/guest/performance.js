/** The global `performance`: a clock that never goes back, and starts with the instance. */
import { bridge } from './host.js';
import { withUnavailable } from './unavailable.js';

/** The two readings differ only by the time between them, which is less than a step of the clock. */
const timeOrigin = Date.now() - now();

function now() {
  return /** @type {number} */ (bridge('clock'));
}

export const performance = withUnavailable('performance', { now, timeOrigin, toJSON: () => ({ timeOrigin }) }, [
  ...['mark', 'measure', 'clearMarks', 'clearMeasures', 'getEntries', 'getEntriesByName', 'getEntriesByType'],
  ...['timerify', 'eventLoopUtilization'],
]);
