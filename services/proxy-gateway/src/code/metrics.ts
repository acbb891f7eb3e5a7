import type { TransformPool, TransformPoolState } from '@sluice/sandbox';
import { exportCounter, exportGauge } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';

const gauges = {
  threads: ['Running threads', ({ threads }: TransformPoolState) => threads],
  running: ['Runs in progress', ({ running }: TransformPoolState) => running],
  waiting: ['Runs waiting for a thread', ({ waiting }: TransformPoolState) => waiting],
  warm_bytes: ['Memory of code that stays loaded between runs', ({ warmBytes }: TransformPoolState) => warmBytes],
  suspended: ['Code suspended after repeated kills', ({ suspended }: TransformPoolState) => suspended],
} as const;

const counters = {
  runs_total: ['Ended runs', ({ runs }: TransformPoolState) => runs],
  cpu_seconds_total: [
    'CPU time of runs, without that of killed threads',
    ({ cpuMs }: TransformPoolState) => cpuMs / 1000,
  ],
  wall_seconds_total: [
    'Time that runs spent in their threads, including waiting',
    ({ durationMs }: TransformPoolState) => durationMs / 1000,
  ],
  suspensions_total: ['Suspensions', ({ suspensions }: TransformPoolState) => suspensions],
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
  memoryWait: 'memory_wait',
  crashed: 'crashed',
};

/** Metrics named `sluice_transform_…` or `sluice_reactor_…`. */
export function measureCode(kind: 'transform' | 'reactor', pool: TransformPool, registry: Registry): void {
  for (const [name, [help, read]] of Object.entries(gauges)) {
    exportGauge(registry, {
      name: `sluice_${kind}_${name}`,
      help: `${help}`,
      read: () => read(pool.state()),
    });
  }
  for (const [name, [help, read]] of Object.entries(counters)) {
    exportCounter(registry, {
      name: `sluice_${kind}_${name}`,
      help: `${help}`,
      read: () => read(pool.state()),
    });
  }
  exportCounter(registry, {
    name: `sluice_${kind}_stops_total`,
    help: `Runs that a limit stopped`,
    by: 'limit',
    read() {
      const { stops } = pool.state();
      const named = Object.entries(limits).map(([limit, name]) => [name, stops[limit as keyof typeof stops] ?? 0]);
      return Object.fromEntries(named);
    },
  });
}
