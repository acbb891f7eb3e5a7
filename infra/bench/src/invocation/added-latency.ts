import {
  type Benchmark,
  type BenchmarkContext,
  type Comparison,
  errorsOf,
  limited,
  type Outcome,
  type PathFigures,
} from '../benchmark.ts';
import { startEcho } from '../destination/echo.ts';
import { fixedRate } from '../load/fixed-rate.ts';
import { loadInTurns, warmUpSeconds } from '../rounds.ts';
import { checkLoad } from './check.ts';
import { startInvocation } from './start-invocation.ts';
import { detokenizing } from './workloads.ts';

export const addedLatency: Benchmark = {
  id: 'P4',
  work: "latency that P1's invocation adds to the destination's own, at half of the gateway's maximum rate",
  goal: 'p50 at most 0.5 ms, p99 at most 3 ms',
  peerName: 'those limits; what http-proxy 1.18.1 adds at the same rate',
  run: measure,
};

const limits = [
  { field: 'p50Ms', name: 'p50', limit: 0.5 },
  { field: 'p99Ms', name: 'p99', limit: 3 },
] as const;

/** Percentiles through the gateway minus those of the destination alone, in the same round and at the same rate. */
async function measure(context: BenchmarkContext): Promise<Outcome> {
  const { directory, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const options = { workload: detokenizing, peerNames: ['httpProxy'] } as const;
  const { direct, ours, peers, notes } = await startInvocation(context, options, opened);
  await ours.measure(warmUpSeconds(seconds));
  const { requestsPerSecond: mostPerSecond, errors } = await ours.measure(seconds);
  if (errors > 0) throw new Error(`${errors} requests failed at the maximum rate`);
  log(`  maximum  ${ours.name.padEnd(24)} ${Math.round(mostPerSecond)} req/s`);

  const steady = fixedRate(mostPerSecond / 2, directory);
  {
    await using echo = await startEcho();
    const request = { ...direct.request, url: `${echo.url}/proxy` };
    await checkLoad(steady, { name: 'echo', request }, echo, signal);
  }
  const turns = [direct, ours, ...peers].map(({ name, request }) => ({
    name,
    measure: (length: number) => steady.run(request, length, signal),
  }));
  const paths = await loadInTurns(context, turns);
  const [alone, through, peer] = paths as [PathFigures, PathFigures, PathFigures];
  const isDisturbed = [through, peer].some(({ rounds }) =>
    rounds.some(({ p99Ms }, round) => p99Ms < (alone.rounds[round]?.p99Ms ?? 0)),
  );
  return {
    comparisons: limits.flatMap(({ field, name, limit }): Comparison[] => {
      const added = ({ rounds }: PathFigures) =>
        rounds.map((figures, round) => figures[field] - (alone.rounds[round]?.[field] ?? Number.NaN));
      const besidePeer = { peer: added(peer), peerName: `${name} that ${peer.name} adds` };
      return [
        limited('ms', added(through), { limit, name: `limit of the added ${name}`, errors: errorsOf(alone, through) }),
        { unit: 'ms', ours: added(through), ...besidePeer, errors: errorsOf(alone, through, peer) },
      ];
    }),
    paths,
    notes: [
      ...notes,
      `maximum of the gateway: ${Math.round(mostPerSecond)} req/s; measured with ${steady.name}`,
      'latency counts from the moment at which a request was due; compared is what each adds to the destination alone',
      ...(isDisturbed ? ['the destination alone was slower than what is in front of it: something disturbed it'] : []),
    ],
  };
}
