import type { BenchmarkContext, Comparison, Outcome } from '../benchmark.ts';
import type { LoadFigures } from '../load/load-generator.ts';
import { type Goal, median } from '../report/statistics.ts';
import { type Turn, warmUpSeconds } from '../rounds.ts';
import { partOfStrangers, readThreadTimes } from './threads.ts';

/** A process, and the load that keeps it busy. */
export interface BusyProcess extends Turn<LoadFigures> {
  pid: number;
  /** For a peer: the goal for the ratio of the product's time to its time. */
  goal?: Goal | undefined;
}

/** Longer rounds gain nothing, because disturbances of the machine last seconds. */
const longestSeconds = 2;
/** A round does not count where other processes had the core for a larger part of the time. */
const mostOfStrangers = 0.03;
/** Attempts for each wanted round. */
const mostTries = 4;

interface Figures {
  /** Main-thread processor time for one request, in microseconds. */
  micros: number;
  errors: number;
  /** The part of the time in which other processes had the core. */
  strangers: number;
}

/**
 * Main-thread processor time for one request, of the product and each peer, in short rounds in random order. It varies
 * by a few per cent, while rates on shared cores vary by a third from hour to hour.
 */
export async function measureMainThreads(
  { rounds, seconds, log, signal }: BenchmarkContext,
  [ours, ...peers]: [BusyProcess, ...BusyProcess[]],
): Promise<Outcome> {
  const all = [ours, ...peers];
  const length = Math.min(seconds, longestSeconds);
  for (const one of all) await measure(one, warmUpSeconds(length));
  const measured: Map<BusyProcess, Figures>[] = [];
  while (measured.filter(isQuiet).length < rounds && measured.length < rounds * mostTries) {
    const round = new Map<BusyProcess, Figures>();
    for (const one of shuffled(all)) {
      signal.throwIfAborted();
      round.set(one, await measure(one, length));
    }
    measured.push(round);
    log(`  ${isQuiet(round) ? 'counts  ' : 'left out'} ${describe(all, round)}`);
  }
  const quiet = measured.filter(isQuiet);
  const counted = quiet.length > 0 ? quiet : measured;
  const of = (one: BusyProcess) => counted.map((round) => round.get(one)?.micros ?? Number.NaN);
  const errors = measured.flatMap((round) => [...round.values()]).reduce((sum, figures) => sum + figures.errors, 0);
  const comparisons = peers.map((peer): Comparison => {
    const { name: peerName, goal } = peer;
    return { unit: 'µs', ours: of(ours), peer: of(peer), peerName, goal, errors };
  });
  const medians = all.map((one) => `${one.name} ${median(of(one)).toFixed(1)} µs`).join(', ');
  const counts =
    quiet.length > 0 ? `${quiet.length} of ${measured.length} rounds count` : 'no round was quiet: all count';
  return { comparisons, paths: [], notes: [`${medians}; ${counts}`] };
}

function isQuiet(round: ReadonlyMap<BusyProcess, Figures>): boolean {
  return [...round.values()].every(({ strangers }) => strangers <= mostOfStrangers);
}

function describe(all: readonly BusyProcess[], round: ReadonlyMap<BusyProcess, Figures>): string {
  return all
    .map((one) => {
      const { micros = Number.NaN, strangers = 0 } = round.get(one) ?? {};
      return `${one.name} ${micros.toFixed(1)} µs (${(100 * strangers).toFixed(0)} % strangers)`;
    })
    .join(', ');
}

async function measure(busy: BusyProcess, seconds: number): Promise<Figures> {
  const before = await readThreadTimes(busy.pid);
  const { requestsPerSecond, errors } = await busy.measure(seconds);
  const after = await readThreadTimes(busy.pid);
  const micros = (after.main - before.main) / 1000 / (requestsPerSecond * seconds);
  return { micros, errors, strangers: partOfStrangers(before, after, seconds) };
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
