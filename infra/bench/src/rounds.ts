import type { BenchmarkContext, PathFigures } from './benchmark.ts';
import type { LoadFigures } from './load/load-generator.ts';

/** V8 compiles for some 15 s under full load on the measured core, so work counts as warm only after that. */
const leastWarmUpSeconds = 20;

export const warmUpSeconds = (seconds: number) => Math.max(seconds, leastWarmUpSeconds);

/** Something that is measured in each round. */
export interface Turn<T> {
  name: string;
  /** @param seconds of this round; more where it warms up under load. */
  measure(seconds: number): Promise<T>;
}

/**
 * Measures in turns, A B C A B C, so that a slow phase of the machine affects all of them. Round 0 warms up and does not
 * count.
 * @returns the rounds of each.
 */
export async function inTurns<T>(
  { rounds, seconds, log, signal }: BenchmarkContext,
  turns: readonly Turn<T>[],
  show: (figures: T) => string,
): Promise<T[][]> {
  const measured = turns.map((): T[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, { name, measure }] of turns.entries()) {
      signal.throwIfAborted();
      const figures = await measure(round === 0 ? warmUpSeconds(seconds) : seconds);
      log(`  ${(round === 0 ? 'warm-up' : `round ${round}`).padEnd(8)} ${name.padEnd(24)} ${show(figures)}`);
      if (round > 0) measured[index]?.push(figures);
    }
  }
  return measured;
}

/** The same for what is under load. */
export async function loadInTurns(
  context: BenchmarkContext,
  turns: readonly Turn<LoadFigures>[],
): Promise<PathFigures[]> {
  const measured = await inTurns(context, turns, ({ requestsPerSecond, p50Ms, p99Ms }) => {
    const latency = Number.isNaN(p50Ms) ? '' : `, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`;
    return `${Math.round(requestsPerSecond)} req/s${latency}`;
  });
  return turns.map(({ name }, index) => ({ name, rounds: measured[index] ?? [] }));
}
