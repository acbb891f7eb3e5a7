import { Counter, Histogram, type Registry } from 'prom-client';

/** What is measured of the work that time drives. */
export interface WorkerMetrics {
  expiryLag: Histogram;
  sweepFailures: Counter;
}

export function createWorkerMetrics(registry: Registry): WorkerMetrics {
  const registers = [registry];
  return {
    expiryLag: new Histogram({
      name: 'sluice_application_expiry_lag_seconds',
      help: 'From the moment at which an Application was due until its row was deleted',
      buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 3600],
      registers,
    }),
    sweepFailures: new Counter({
      name: 'sluice_sweep_failures_total',
      help: 'Sweeps that failed; the next one tries again',
      labelNames: ['sweep'],
      registers,
    }),
  };
}
