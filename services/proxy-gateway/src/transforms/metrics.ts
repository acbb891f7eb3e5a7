import type { TransformPool, TransformPoolState } from '@sluice/sandbox';
import { Counter, Gauge, type Registry } from 'prom-client';

const gauges = {
  sluice_transform_threads: ['Threads for transforms that are up', ({ threads }: TransformPoolState) => threads],
  sluice_transform_running: ['Transforms that run', ({ running }: TransformPoolState) => running],
  sluice_transform_waiting: ['Transforms that wait for a thread', ({ waiting }: TransformPoolState) => waiting],
  sluice_transform_suspended: [
    'Transforms that are not run for now, because they were killed again and again',
    ({ suspended }: TransformPoolState) => suspended,
  ],
} as const;

const counters = {
  sluice_transform_suspensions_total: [
    'How often a transform was suspended',
    ({ suspensions }: TransformPoolState) => suspensions,
  ],
  sluice_transform_suspended_runs_total: [
    'Runs that were refused because their transform is suspended',
    ({ suspendedRuns }: TransformPoolState) => suspendedRuns,
  ],
} as const;

/** The state of the pool, read when metrics are. */
export function measureTransforms(transforms: TransformPool, registry: Registry): void {
  const registers = [registry];
  for (const [name, [help, read]] of Object.entries(gauges)) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(transforms.state()));
      },
    });
  }
  for (const [name, [help, read]] of Object.entries(counters)) {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read(transforms.state()));
      },
    });
  }
  new Counter({
    name: 'sluice_transform_stops_total',
    help: 'Transforms that were stopped, by the limit',
    labelNames: ['limit'],
    registers,
    collect() {
      this.reset();
      for (const [limit, count] of Object.entries(transforms.state().stops)) this.inc({ limit }, count);
    },
  });
}
