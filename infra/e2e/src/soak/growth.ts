import { percentile } from '../under-load/count.ts';
import type { ProcessSample } from '../under-load/process-state.ts';
import type { Sample } from './samples.ts';

/** A stretch of time in which nothing failed. */
type Calm = Record<'from' | 'until', number>;

const quantities = [
  // A heap is not given back at once, and grows until it is worth collecting.
  { member: 'memory', unit: 'MiB', most: (before: number) => before * 1.3 + 32 },
  { member: 'sockets', unit: 'descriptors', most: (before: number) => before + 20 },
  { member: 'threads', unit: 'threads', most: (before: number) => before + 2 },
] as const satisfies readonly { member: keyof ProcessSample; unit: string; most: (before: number) => number }[];

/** What grew from the first calm to the last, of processes that lived through both, and of the stores. */
export function growthBetween(samples: readonly Sample[], [first, last]: readonly [Calm, Calm]) {
  const [early, late] = [first, last].map(({ from, until }) => samples.filter(({ at }) => at >= from && at <= until));
  const found: { name: string; before: number; after: number; unit: string; most: number }[] = [];
  for (const name of new Set(early?.flatMap(({ processes }) => [...processes.keys()]))) {
    const [before, after] = [early, late].map((some = []) =>
      some.flatMap(({ processes }) => processes.get(name) ?? []),
    );
    if (new Set([...(before ?? []), ...(after ?? [])].map(({ pid }) => pid)).size !== 1) continue;
    for (const { member, unit, most } of quantities) {
      const [start = 0, end = 0] = [before, after].map((some) => median(some?.map((one) => one[member])));
      found.push({ name: `${name} ${member}`, before: start, after: end, unit, most: most(start) });
    }
  }
  for (const [member, most] of [['postgresConnections', 20] as const, ['redisKeys', 50] as const]) {
    const [before, after] = [early, late].map((some = []) => median(some.flatMap((one) => one[member] ?? [])));
    if (before === undefined || after === undefined) continue;
    found.push({ name: member, before, after, unit: '', most: before + most });
  }
  return found;
}

const median = (values: readonly number[] = []) => (values.length > 0 ? percentile(values, 0.5) : 0);
