import { type Benchmark, type BenchmarkContext, compareRates, type Outcome, type PathFigures } from '../benchmark.ts';
import { answerBody } from '../destination/destination.ts';
import type { LoadFigures } from '../load/load-generator.ts';
import { loadInTurns } from '../rounds.ts';
import { startGateway } from '../stack/more-gateways.ts';
import { checkAnswer } from './check.ts';
import { startInvocation } from './start-invocation.ts';
import { detokenizing } from './workloads.ts';

export const twoGateways: Benchmark = {
  id: 'P1-X2',
  work: 'P1 with two gateway processes, each with its own load',
  goal: 'no goal',
  peerName: 'one of the two alone',
  run: measure,
};

/** Requests a second through two gateways, each with a load generator, compared with one while the other rests. */
async function measure(context: BenchmarkContext): Promise<Outcome> {
  const { cores, signal } = context;
  await using opened = new AsyncDisposableStack();
  const options = { workload: detokenizing, peerNames: [] };
  const { load, stack, direct, ours, notes } = await startInvocation(context, options, opened);
  const { url, pid } = await startGateway(context, stack, opened);
  const place = await cores.moveToSecondTestedCore(pid);
  const second = { name: 'second gateway', request: { ...ours.request, url: `${url}/proxy` } };
  await checkAnswer(second, answerBody, signal);
  const loadSecond = (seconds: number) => load.run(second.request, seconds, signal);

  const both = async (seconds: number) => together(await Promise.all([ours.measure(seconds), loadSecond(seconds)]));
  const turns = [{ name: 'two gateways', measure: both }, { ...ours, name: 'one gateway' }, direct];
  const paths = await loadInTurns(context, turns);
  const [two, one] = paths as [PathFigures, PathFigures];
  return {
    comparisons: [compareRates(two, one)],
    paths,
    notes: [...notes, `the second gateway is on ${place}; each has a load generator of its own`],
  };
}

/** Adds the rates; latencies are those of the slower one. */
function together([a, b]: [LoadFigures, LoadFigures]): LoadFigures {
  return {
    requestsPerSecond: a.requestsPerSecond + b.requestsPerSecond,
    p50Ms: Math.max(a.p50Ms, b.p50Ms),
    p99Ms: Math.max(a.p99Ms, b.p99Ms),
    errors: a.errors + b.errors,
  };
}
