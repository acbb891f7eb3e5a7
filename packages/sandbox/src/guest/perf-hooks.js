/** The module `perf_hooks`. */
import { performance } from './performance.js';
import { withUnavailable } from './unavailable.js';

export const exported = withUnavailable('perf_hooks', { performance, constants: {} }, [
  ...['PerformanceObserver', 'createHistogram', 'monitorEventLoopDelay'],
]);
