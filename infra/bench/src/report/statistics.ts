/** The goal for a ratio. */
export type Goal = { atLeast: number } | { atMost: number };

/** @throws {RangeError} where there is no value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new RangeError('There is no median of nothing');
  return (lower + upper) / 2;
}

/** The nearest-rank percentile. @throws {RangeError} where there is no value. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('There is no percentile of nothing');
  return value;
}

export function spread(values: readonly number[]): [lowest: number, highest: number] {
  return [Math.min(...values), Math.max(...values)];
}

/** The ratio in each round. */
export function ratios(ours: readonly number[], peer: readonly number[]): number[] {
  return ours.map((value, round) => value / (peer[round] ?? Number.NaN));
}

export function isMet(goal: Goal, ratio: number): boolean {
  return 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost;
}
