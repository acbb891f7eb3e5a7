import type { BenchmarkContext, PathFigures } from '../benchmark.ts';
import type { LoadFigures } from '../load/load-generator.ts';
import { secondsOfRound } from '../load/round-seconds.ts';

/**
 * Measures the paths in turns, A B C A B C, so that a slow phase of the machine affects all of them. Round 0 warms up.
 */
export async function measureInTurns<T extends { name: string }>(
  { rounds, seconds, log }: BenchmarkContext,
  paths: readonly T[],
  measure: (path: T, seconds: number) => Promise<LoadFigures>,
): Promise<PathFigures[]> {
  const measured = paths.map((path) => ({ path, name: path.name, rounds: [] as LoadFigures[] }));
  for (let round = 0; round <= rounds; round++) {
    for (const { path, name, rounds: figuresOfRounds } of measured) {
      const figures = await measure(path, secondsOfRound(round, seconds));
      const when = round === 0 ? 'warm-up' : `round ${round}`;
      const latency = `p50 ${figures.p50Ms.toFixed(2)} ms, p99 ${figures.p99Ms.toFixed(2)} ms`;
      log(`  ${when.padEnd(8)} ${name.padEnd(20)} ${Math.round(figures.requestsPerSecond)} req/s, ${latency}`);
      if (round > 0) figuresOfRounds.push(figures);
    }
  }
  return measured.map(({ name, rounds: figures }) => ({ name, rounds: figures }));
}
