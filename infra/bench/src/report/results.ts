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

/** How much of the stored processor time a request may take more. */
const mostAbove = 1.03;

/**
 * Benchmarks whose processor time is more than 3 % above the stored one beside each of their peers. One peer alone may
 * have been disturbed, and times without a peer depend on the machine.
 */
function slowerThan(stored: readonly Result[], results: readonly Result[]): string[] {
  const ids = new Set(results.filter(({ unit }) => unit === 'µs').map(({ id }) => id));
  return [...ids].filter((id) => {
    const beside = results.filter((result) => result.id === id).flatMap((result) => aboveStored(stored, result));
    return beside.length > 0 && beside.every((above) => above > mostAbove);
  });
}

function aboveStored(stored: readonly Result[], { id, peer_name, ratio }: Result): number[] {
  const before = stored.find((result) => result.id === id && result.peer_name === peer_name);
  return before ? [ratio / before.ratio] : [];
}

/**
 * Replaces the results of the benchmarks that ran and keeps those of the others.
 * @returns the benchmarks whose stored results stay too, because they take more processor time now.
 */
export async function writeResults(
  file: string,
  results: Result[],
  { ran, acceptsSlower }: { ran: readonly string[]; acceptsSlower: boolean },
): Promise<string[]> {
  const stored = await readResults(file);
  const refused = acceptsSlower ? [] : slowerThan(stored, results);
  const isNew = (id: string) => ran.includes(id) && !refused.includes(id);
  const all = [...stored.filter(({ id }) => !isNew(id)), ...results.filter(({ id }) => isNew(id))];
  all.sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  // One on each line, so that a change shows what changed
  await writeFile(file, `[\n${all.map((result) => JSON.stringify(result)).join(',\n')}\n]\n`);
  return refused;
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
