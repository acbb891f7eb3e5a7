import type { Queue } from 'bullmq';
import { Counter, Gauge, type Registry } from 'prom-client';
import { catalogue } from './catalogue.ts';
import { isDoneInTime } from './connection.ts';

const states = ['wait', 'delayed', 'active', 'failed'] as const;

export interface JobMetrics {
  follow(queue: Queue): void;
  completed(queue: string): void;
  failed(queue: string): void;
}

/** Queues are queried at each scrape, and have no figures while Redis is unavailable. */
export function jobMetrics(registry: Registry): JobMetrics {
  const queues: Queue[] = [];
  const registers = [registry];
  const failures = new Counter({
    name: 'sluice_job_failures_total',
    help: 'Failed attempts of jobs. They are repeated',
    labelNames: ['queue'],
    registers,
  });
  const completions = new Counter({
    name: 'sluice_jobs_completed_total',
    help: 'Completed jobs',
    labelNames: ['queue'],
    registers,
  });
  for (const queue of Object.keys(catalogue)) {
    failures.inc({ queue }, 0);
    completions.inc({ queue }, 0);
  }
  new Gauge({
    name: 'sluice_queue_oldest_job_age_seconds',
    help: 'Waiting time of the oldest job that is due. 0 if none waits',
    labelNames: ['queue'],
    registers,
    async collect() {
      this.reset();
      const looking = queues.map(async (queue) => {
        const [oldest] = await queue.getJobs(['wait'], 0, 0, true);
        const dueAt = oldest ? oldest.timestamp + (oldest.opts.delay ?? 0) : Date.now();
        this.set({ queue: queue.name }, Math.max(0, Date.now() - dueAt) / 1000);
      });
      await isDoneInTime(Promise.allSettled(looking));
    },
  });
  new Gauge({
    name: 'sluice_queue_jobs',
    help: 'Jobs, by state',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      this.reset();
      const counting = queues.map(async (queue) => {
        const counts = await queue.getJobCounts(...states);
        for (const state of states) this.set({ queue: queue.name, state }, counts[state] ?? 0);
      });
      await isDoneInTime(Promise.allSettled(counting));
    },
  });
  return {
    follow: (queue) => void queues.push(queue),
    completed: (queue) => completions.inc({ queue }),
    failed: (queue) => failures.inc({ queue }),
  };
}
