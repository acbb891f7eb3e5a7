import { percentile } from '../under-load/count.ts';
import type { Sample } from './samples.ts';

/** A stretch of time in which nothing failed. */
type Calm = Record<'from' | 'until', number>;

/** The limit in the last calm period, from the value in the first, by the last word of the name. */
const mostAfter: Readonly<Record<string, (before: number) => number>> = {
  // A heap is not given back at once, and grows until it is worth collecting.
  memory: (mebibytes) => mebibytes * 1.3 + 32,
  sockets: (before) => before + 20,
  threads: (before) => before + 2,
  sessions: (before) => before + 20,
  keys: (before) => before + 50,
};

/** What grew from the first calm to the last, of all that was there in both, and its whole course. */
export function growthBetween(samples: readonly Sample[], [first, last]: readonly [Calm, Calm]) {
  const taken = (from: number, until: number) => samples.filter(({ at }) => at >= from && at <= until);
  const [early, late] = [taken(first.from, first.until), taken(last.from, last.until)];
  const whole = taken(first.from, last.until);
  const valuesOf = (name: string, some: readonly Sample[]) => some.flatMap(({ held }) => held.get(name) ?? []);
  const names = new Set(early.flatMap(({ held }) => [...held.keys()]));
  return Array.from(names, (name) => {
    const before = percentile(valuesOf(name, early), 0.5);
    const after = percentile(valuesOf(name, late), 0.5);
    const most = mostAfter[name.split(' ').at(-1) ?? '']?.(before) ?? 0;
    return { name, before, after, most, course: barsOf(whole.map(({ held }) => held.get(name))) };
  }).filter(({ after }) => !Number.isNaN(after));
}

const bars = '▁▂▃▄▅▆▇█';
const mostBars = 60;

/** A line of bars: the least value is the lowest, the greatest the highest, and what is unknown is a blank. */
export function barsOf(values: readonly (number | undefined)[]): string {
  const known = values.filter((value) => value !== undefined);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const length = Math.min(mostBars, values.length);
  const shown = Array.from({ length }, (_, at) => values[Math.floor((at * values.length) / length)]);
  const bar = (value: number | undefined) => {
    if (value === undefined) return ' ';
    const height = most === least ? 0 : (value - least) / (most - least);
    return bars[Math.round(height * (bars.length - 1))];
  };
  return shown.map(bar).join('');
}
