import type { TransformPool, TransformPoolState } from '@sluice/sandbox';
import { exportCounter, exportGauge } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';

const gauges = {
  threads: ['Threads that are up', ({ threads }: TransformPoolState) => threads],
  running: ['Runs under way', ({ running }: TransformPoolState) => running],
  waiting: ['Runs that wait for a thread', ({ waiting }: TransformPoolState) => waiting],
  suspended: [
    'Code that is not run for now, because it was killed again and again',
    ({ suspended }: TransformPoolState) => suspended,
  ],
} as const;

const counters = {
  runs_total: ['Runs that ended', ({ runs }: TransformPoolState) => runs],
  cpu_seconds_total: [
    'CPU time of runs, less that of threads that had to be ended',
    ({ cpuMs }: TransformPoolState) => cpuMs / 1000,
  ],
  wall_seconds_total: [
    'Time of runs in their threads, waiting for the vault and destinations included',
    ({ durationMs }: TransformPoolState) => durationMs / 1000,
  ],
  suspensions_total: ['How often code was suspended', ({ suspensions }: TransformPoolState) => suspensions],
  suspended_runs_total: [
    'Runs that were refused because their code is suspended',
    ({ suspendedRuns }: TransformPoolState) => suspendedRuns,
  ],
} as const;

const limits: Readonly<Record<keyof TransformPoolState['stops'], string>> = {
  cpuMs: 'cpu_time',
  wallMs: 'wall_time',
  heapBytes: 'heap',
  stackBytes: 'stack',
  outputBytes: 'output',
  hostCalls: 'client_calls',
  stuck: 'stuck',
  crashed: 'crashed',
};

/** Metrics named `sluice_transform_…` or `sluice_reactor_…`. */
export function measureCode(kind: 'transform' | 'reactor', pool: TransformPool, registry: Registry): void {
  for (const [name, [help, read]] of Object.entries(gauges)) {
    exportGauge(registry, {
      name: `sluice_${kind}_${name}`,
      help: `${help} (${kind}s)`,
      read: () => read(pool.state()),
    });
  }
  for (const [name, [help, read]] of Object.entries(counters)) {
    exportCounter(registry, {
      name: `sluice_${kind}_${name}`,
      help: `${help} (${kind}s)`,
      read: () => read(pool.state()),
    });
  }
  exportCounter(registry, {
    name: `sluice_${kind}_stops_total`,
    help: `Runs that were stopped, by the limit (${kind}s)`,
    by: 'limit',
    read() {
      const { stops } = pool.state();
      const named = Object.entries(limits).map(([limit, name]) => [name, stops[limit as keyof typeof stops] ?? 0]);
      return Object.fromEntries(named);
    },
  });
}
