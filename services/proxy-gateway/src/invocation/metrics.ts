import { Histogram, type Registry } from 'prom-client';

/** What is measured of each invocation. */
export interface InvocationMetrics {
  finished(status: number, durationMs: number): void;
}

const bucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** One histogram by status class; its children are made once, so that an observation looks up no labels. */
export function createInvocationMetrics(registry: Registry): InvocationMetrics {
  const duration = new Histogram({
    name: 'sluice_invocation_duration_seconds',
    help: 'From the head of the request to the end of the answer',
    labelNames: ['status_class'],
    buckets: bucketsSeconds,
    registers: [registry],
  });
  const byClass = [1, 2, 3, 4, 5].map((digit) => duration.labels(`${digit}xx`));
  return {
    finished: (status, durationMs) => byClass[Math.floor(status / 100) - 1]?.observe(durationMs / 1000),
  };
}
