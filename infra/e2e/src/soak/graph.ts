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
