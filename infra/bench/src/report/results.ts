import { readFile, writeFile } from 'node:fs/promises';
import type { Benchmark, Comparison } from '../benchmark.ts';
import { type Goal, isMet, median, ratios, spread } from './statistics.ts';

/** One line of `results.json`. `ours` and `peer` are medians of the rounds; `ratio` is `ours` to `peer`. */
export interface Result {
  id: string;
  work: string;
  unit: string;
  ours: number;
  peer: number;
  peer_name: string;
  ratio: number;
  /** Lowest and highest ratio of a round. */
  spread: [number, number];
  /** Null for a peer that is only for orientation. */
  goal: string | null;
  met: boolean | null;
  errors: number;
}

export function toResult({ id, work }: Benchmark, { unit, ours, peer, peerName, goal, errors }: Comparison): Result {
  const ratio = median(ours) / median(peer);
  return {
    id,
    work,
    unit,
    ours: rounded(median(ours)),
    peer: rounded(median(peer)),
    peer_name: peerName,
    ratio: rounded(ratio),
    spread: spread(ratios(ours, peer).map(rounded)),
    goal: goal ? describeGoal(goal) : null,
    met: goal ? errors === 0 && isMet(goal, ratio) : null,
    errors,
  };
}

function describeGoal(goal: Goal): string {
  return 'atLeast' in goal ? `>= ${goal.atLeast}` : `<= ${goal.atMost}`;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** Replaces the results of the benchmarks that ran and keeps those of the others. */
export async function writeResults(file: string, results: Result[], ran: readonly string[]): Promise<void> {
  const kept = (await readResults(file)).filter(({ id }) => !ran.includes(id));
  const all = [...kept, ...results].sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  await writeFile(file, `${JSON.stringify(all, null, 2)}\n`);
}

/** Empty where no run has written any. */
async function readResults(file: string): Promise<Result[]> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
