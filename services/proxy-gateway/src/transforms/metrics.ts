import type { TransformPool, TransformPoolState } from '@sluice/sandbox';
import { exportCounter, exportGauge } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';

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
  sluice_transform_runs_total: ['Runs that ended', ({ runs }: TransformPoolState) => runs],
  sluice_transform_cpu_seconds_total: [
    'CPU time of runs, less that of threads that had to be ended',
    ({ cpuMs }: TransformPoolState) => cpuMs / 1000,
  ],
  sluice_transform_wall_seconds_total: [
    'Time of runs in their threads, waiting for the vault included',
    ({ durationMs }: TransformPoolState) => durationMs / 1000,
  ],
  sluice_transform_suspensions_total: [
    'How often a transform was suspended',
    ({ suspensions }: TransformPoolState) => suspensions,
  ],
  sluice_transform_suspended_runs_total: [
    'Runs that were refused because their transform is suspended',
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

export function measureTransforms(transforms: TransformPool, registry: Registry): void {
  for (const [name, [help, read]] of Object.entries(gauges)) {
    exportGauge(registry, { name, help, read: () => read(transforms.state()) });
  }
  for (const [name, [help, read]] of Object.entries(counters)) {
    exportCounter(registry, { name, help, read: () => read(transforms.state()) });
  }
  exportCounter(registry, {
    name: 'sluice_transform_stops_total',
    help: 'Transforms that were stopped, by the limit',
    by: 'limit',
    read() {
      const { stops } = transforms.state();
      const named = Object.entries(limits).map(([limit, name]) => [name, stops[limit as keyof typeof stops] ?? 0]);
      return Object.fromEntries(named);
    },
  });
}
