import type { History } from '../coherence/history.ts';
import { durationMs, percentile } from '../under-load/count.ts';
import type { World } from '../under-load/world.ts';
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
  const ofSamples = (name: string, read: (sample: Sample) => number | undefined, unit = '') => {
    const last = toColumns(sampled, range, (some) => some.flatMap((one) => read(one) ?? []).at(-1));
    return graph(name, last, unit);
  };
  const started = history.invocations
    .filter(({ startedAt }) => startedAt >= from)
    .map((one) => ({ ...one, at: one.startedAt }));
  const succeeded = started.filter(({ detail }) => detail === '200');
  const faults = history.faults.map(({ startedAt }) => ({ at: startedAt }));
  const countEach = (all: readonly { at: number }[]) => toColumns(all, range, (some) => some.length);
  const count = (name: string, all: readonly { at: number }[]) => graph(name, countEach(all), 'in a column');
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

const bars = '▁▂▃▄▅▆▇█';

/**
 * One line of text: the least and the greatest value, and a bar for each column between them. A column without a value is
 * a blank.
 */
export function graph(name: string, columns: readonly (number | undefined)[], unit: string): string {
  const known = columns.filter((value) => value !== undefined);
  if (known.length === 0) return `${name.padEnd(nameWidth)} no values`;
  const least = Math.min(...known);
  const most = Math.max(...known);
  const bar = (value: number | undefined) => {
    if (value === undefined) return ' ';
    const height = most === least ? 0 : (value - least) / (most - least);
    return bars[Math.round(height * (bars.length - 1))];
  };
  const ends = [least, most].map((value) => value.toFixed(value < 10 && value % 1 ? 1 : 0));
  return `${name.padEnd(nameWidth)} ${ends[0]?.padStart(6)} ${columns.map(bar).join('')} ${ends[1]} ${unit}`;
}

const nameWidth = 30;

/** The values of a time series in so many columns of equal length, each reduced to one value. */
export function toColumns<T extends { at: number }>(
  series: readonly T[],
  { from, until, columns }: { from: number; until: number; columns: number },
  reduce: (some: readonly T[]) => number | undefined,
): (number | undefined)[] {
  const width = (until - from) / columns;
  const groups = Map.groupBy(series, ({ at }) => Math.min(columns - 1, Math.floor((at - from) / width)));
  return Array.from({ length: columns }, (_, column) => {
    const some = groups.get(column);
    return some ? reduce(some) : undefined;
  });
}
