import type { History } from '../coherence/history.ts';
import { durationMs, percentile } from '../under-load/count.ts';
import type { World } from '../under-load/world.ts';
import { graph, toColumns } from './graph.ts';
import type { Sample } from './samples.ts';

const columns = 60;

interface Soaked {
  world: World;
  history: History;
  samples: readonly Sample[];
  from: number;
  until: number;
}

/** What happened over time: faults, invocations, and what each process and store held, a line each. */
export function graphsOf({ world, history, samples, from, until }: Soaked): string {
  const range = { from, until, columns };
  const sampled = samples.filter(({ at }) => at >= from);
  const ofSamples = (name: string, read: (sample: Sample) => number | undefined, unit = '') =>
    graph(
      name,
      toColumns(sampled, range, (some) => some.flatMap((one) => read(one) ?? []).at(-1)),
      unit,
    );
  const started = history.invocations
    .filter(({ startedAt }) => startedAt >= from)
    .map((one) => ({ ...one, at: one.startedAt }));
  const succeeded = started.filter(({ detail }) => detail === '200');
  const faults = history.faults.map(({ startedAt }) => ({ at: startedAt }));
  const count = (name: string, all: readonly { at: number }[]) =>
    graph(
      name,
      toColumns(all, range, (some) => some.length),
      'in a column',
    );
  const latency = (part: number) => toColumns(succeeded, range, (some) => percentile(some.map(durationMs), part));
  const perProcess = (member: 'memory' | 'sockets' | 'threads', unit: string) =>
    world.nodes
      .filter(({ service }) => service !== 'worker' || member === 'memory')
      .map(({ name }) => ofSamples(`${member} ${name}`, ({ processes }) => processes.get(name)?.[member], unit));
  const lines = [
    count('faults', faults),
    count('invocations', started),
    count('answered by 200', succeeded),
    graph('latency p50', latency(0.5), 'ms'),
    graph('latency p99', latency(0.99), 'ms'),
    ...perProcess('memory', 'MiB'),
    ...perProcess('sockets', ''),
    ...perProcess('threads', ''),
    ofSamples('Postgres connections', ({ postgresConnections }) => postgresConnections),
    ofSamples('Redis keys', ({ redisKeys }) => redisKeys),
  ];
  return lines.map((line) => `\n    ${line}`).join('');
}
