import type { Queue } from 'bullmq';
import { Counter, Gauge, type Registry } from 'prom-client';
import { isDoneInTime } from './connection.ts';

const states = ['wait', 'delayed', 'active', 'failed'] as const;

/** What is measured of the queues that a process consumes. */
export interface JobMetrics {
  /** Exports how many jobs of this queue are in which state. */
  follow(queue: Queue): void;
  /** A try of a job failed. */
  failed(queue: string): void;
}

/** Registers the metrics. The queues are asked when they are scraped; while Redis is away they have no figures. */
export function createJobMetrics(registry: Registry): JobMetrics {
  const queues: Queue[] = [];
  const registers = [registry];
  const failures = new Counter({
    name: 'sluice_job_failures_total',
    help: 'Tries of jobs that failed; they are tried again',
    labelNames: ['queue'],
    registers,
  });
  new Gauge({
    name: 'sluice_queue_jobs',
    help: 'Jobs by queue and state',
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
    failed: (queue) => failures.inc({ queue }),
  };
}
