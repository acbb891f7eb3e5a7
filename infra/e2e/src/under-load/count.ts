import type { HttpAnswer } from '@sluice/testing';

/** How many there are of each kind: `7: 503 5, timeout 2`, the most frequent first; `0` where there is none. */
export function countKinds(kinds: readonly (string | number)[]): string {
  const counts = Array.from(Map.groupBy(kinds, String), ([kind, { length }]) => ({ kind, length }));
  const sorted = counts.sort((a, b) => b.length - a.length).map(({ kind, length }) => `${kind} ${length}`);
  return sorted.length > 0 ? `${kinds.length}: ${sorted.join(', ')}` : '0';
}

/** When a request was sent, and when its response had arrived: its status, or why there was none. */
export type Answered = Pick<HttpAnswer, 'startedAt' | 'endedAt' | 'detail'>;

export const countDetails = (answers: readonly { detail: string }[]) => countKinds(answers.map(({ detail }) => detail));

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

export const durationMs = ({ startedAt, endedAt }: { startedAt: number; endedAt: number }) => endedAt - startedAt;

export async function elapsedMs(act: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await act();
  return performance.now() - startedAt;
}
