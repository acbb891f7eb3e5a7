import type { BenchmarkContext, Outcome, PathFigures } from '../benchmark.ts';
import { answerBody } from '../destination/destination.ts';
import type { LoadFigures } from '../load/load-generator.ts';
import { startGateway } from '../processes/more-gateways.ts';
import { checkAnswer } from './check.ts';
import { detokenizingWorkload } from './detokenizing-workload.ts';
import { measureInTurns } from './measure-in-turns.ts';
import { compareRates } from './measure-invocation.ts';
import { startInvocation } from './start-invocation.ts';

/** Requests a second through two gateways, each with a load generator, compared with one while the other rests. */
export async function measureTwoGateways(context: BenchmarkContext): Promise<Outcome> {
  const { cores, signal } = context;
  await using opened = new AsyncDisposableStack();
  const { load, direct, ours, notes } = await startInvocation(
    context,
    { workload: detokenizingWorkload, peerNames: [] },
    opened,
  );
  const { url, pid } = await startGateway(context, opened);
  const place = await cores.moveToSecondTestedCore(pid);
  const second = { name: 'second gateway', request: { ...ours.request, url: `${url}/proxy` } };
  await checkAnswer(second, answerBody, signal);

  const setups = [
    { name: 'two gateways', requests: [ours.request, second.request] },
    { name: 'one gateway', requests: [ours.request] },
    { name: direct.name, requests: [direct.request] },
  ];
  const paths = await measureInTurns(context, setups, async ({ requests }, seconds) =>
    together(await Promise.all(requests.map((request) => load.run(request, seconds, signal)))),
  );
  const [two, one] = paths as [PathFigures, PathFigures];
  return {
    comparisons: [compareRates(two, one)],
    paths,
    notes: [...notes, `the second gateway is on ${place}; each has a load generator of its own`],
  };
}

/** Adds the rates; latencies are those of the slower one. */
function together(figures: readonly LoadFigures[]): LoadFigures {
  return figures.reduce((a, b) => ({
    requestsPerSecond: a.requestsPerSecond + b.requestsPerSecond,
    p50Ms: Math.max(a.p50Ms, b.p50Ms),
    p99Ms: Math.max(a.p99Ms, b.p99Ms),
    errors: a.errors + b.errors,
  }));
}
