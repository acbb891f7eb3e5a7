/** Counts one more of a kind. */
export function addTo<K>(counts: Map<K, number>, kind: K): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
}

/** `7: 503 5, timeout 2`, the most frequent first; `0` where there is none. */
export function describeCounts(counts: ReadonlyMap<string | number, number>): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  if (sorted.length === 0) return '0';
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  return `${total}: ${sorted.map(([kind, count]) => `${kind} ${count}`).join(', ')}`;
}

/** How many there are of each kind, in words. */
export function countBy<T>(all: readonly T[], kindOf: (one: T) => string): string {
  const counts = new Map<string, number>();
  for (const one of all) addTo(counts, kindOf(one));
  return describeCounts(counts);
}

/** The value below which that part of all is: 0.5 for the median, 1 for the greatest. NaN where there is none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

/** `12 / 40 / 95 ms (1834)`: those parts, and how many there are in all. */
export function percentiles(values: readonly number[], parts: readonly number[] = [0.5, 0.99, 1]): string {
  const shown = parts.map((part) => (values.length > 0 ? percentile(values, part).toFixed(0) : '-'));
  return `${shown.join(' / ')} ms (${values.length})`;
}

/** How long what was sent took. */
export const durationMs = ({ startedAt, endedAt }: { startedAt: number; endedAt: number }) => endedAt - startedAt;
