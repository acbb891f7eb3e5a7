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
    help: 'Runs whose gateway died. outcome="begins_again" means that the run starts again. outcome="interrupted" means that the run failed, because its code may already have called another service, or because it was started too often',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['interrupted', 'begins_again']) lostRuns.inc({ outcome }, 0);
  return {
    lostRuns,
    expiryLag: new Histogram({
      name: 'sluice_application_expiry_lag_seconds',
      help: "Time from an Application's expiry to its deletion",
      buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 3600],
      registers,
    }),
    sweepFailures: new Counter({
      name: 'sluice_sweep_failures_total',
      help: 'Failed sweeps. The next sweep repeats the work',
      labelNames: ['sweep'],
      registers,
    }),
    sweepDuration: new Histogram({
      name: 'sluice_sweep_duration_seconds',
      help: 'Duration of successful sweeps',
      labelNames: ['sweep'],
      buckets: [0.01, 0.05, 0.25, 1, 5, 30, 120, 600],
      registers,
    }),
    lastSweep: new Gauge({
      name: 'sluice_sweep_last_success_timestamp_seconds',
      help: 'Unix time of the last successful sweep, or of the start of the process',
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
