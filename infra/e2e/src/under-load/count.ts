/** Counts one more of a kind. */
export function addTo<K>(counts: Map<K, number>, kind: K): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
}

/** `7: 503 5, timeout 2`, the most frequent first; `0` where there is none. */
export function describeCounts(counts: ReadonlyMap<string, number>): string {
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
