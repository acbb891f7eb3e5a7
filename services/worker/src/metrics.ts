import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface WorkerMetrics {
  expiryLag: Histogram;
  lostRuns: Counter;
  sweepFailures: Counter;
  sweepDuration: Histogram;
  lastSweep: Gauge;
}

export function workerMetrics(registry: Registry): WorkerMetrics {
  const registers = [registry];
  const lostRuns = new Counter({
    name: 'sluice_reactor_runs_lost_total',
    help: 'Runs of reactors whose gateway died; interrupted: they have failed, because they may have called out',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['interrupted', 'begins_again']) lostRuns.inc({ outcome }, 0);
  return {
    lostRuns,
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
    sweepDuration: new Histogram({
      name: 'sluice_sweep_duration_seconds',
      help: 'Of sweeps that did not fail',
      labelNames: ['sweep'],
      buckets: [0.01, 0.05, 0.25, 1, 5, 30, 120, 600],
      registers,
    }),
    lastSweep: new Gauge({
      name: 'sluice_sweep_last_success_timestamp_seconds',
      help: 'When a sweep last came to its end, in Unix time; when the process started where none has yet',
      labelNames: ['sweep'],
      registers,
    }),
  };
}

export function sweepMeasures(sweep: string, { sweepFailures, sweepDuration, lastSweep }: WorkerMetrics) {
  sweepFailures.inc({ sweep }, 0);
  lastSweep.setToCurrentTime({ sweep });
  return {
    onFailure: () => sweepFailures.inc({ sweep }),
    onSuccess: (durationMs: number) => {
      sweepDuration.observe({ sweep }, durationMs / 1000);
      lastSweep.setToCurrentTime({ sweep });
    },
  };
}
