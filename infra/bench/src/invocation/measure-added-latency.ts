import type { BenchmarkContext, Comparison, Outcome, PathFigures } from '../benchmark.ts';
import { startEcho } from '../destination/echo.ts';
import { fixedRate } from '../load/fixed-rate.ts';
import type { LoadFigures } from '../load/load-generator.ts';
import { secondsOfRound } from '../load/round-seconds.ts';
import { checkLoad } from './check.ts';
import { detokenizingWorkload } from './detokenizing-workload.ts';
import { measureInTurns } from './measure-in-turns.ts';
import { startInvocation } from './start-invocation.ts';

const mostMs = { p50Ms: 0.5, p99Ms: 3 };

/** Percentiles through the gateway minus those of the destination alone, in the same round and at the same rate. */
export async function measureAddedLatency(context: BenchmarkContext): Promise<Outcome> {
  const { directory, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const invocation = await startInvocation(
    context,
    { workload: detokenizingWorkload, peerNames: ['httpProxy'] },
    opened,
  );
  const { load, direct, ours, peers, notes } = invocation;
  await load.run(ours.request, secondsOfRound(0, seconds), signal);
  const { requestsPerSecond: mostPerSecond, errors } = await load.run(ours.request, seconds, signal);
  if (errors > 0) throw new Error(`${errors} requests failed at the maximum rate`);
  log(`  maximum  ${ours.name.padEnd(20)} ${Math.round(mostPerSecond)} req/s`);

  const steady = fixedRate(mostPerSecond / 2, directory);
  {
    await using echo = await startEcho();
    const request = { ...direct.request, url: `http://127.0.0.1:${echo.port}/proxy` };
    await checkLoad(steady, { name: 'echo', request }, echo, signal);
  }
  const measured = await measureInTurns(context, [direct, ours, ...peers], ({ request }, length) =>
    steady.run(request, length, signal),
  );
  const [alone, through, peer] = measured as [PathFigures, PathFigures, PathFigures];
  const isDisturbed = [through, peer].some(({ rounds }) =>
    rounds.some(({ p99Ms }, round) => p99Ms < (alone.rounds[round]?.p99Ms ?? 0)),
  );
  return {
    comparisons: (['p50Ms', 'p99Ms'] as const).flatMap((field) => compare(field, { alone, through, peer })),
    paths: measured,
    notes: [
      ...notes,
      `maximum of the gateway: ${Math.round(mostPerSecond)} req/s; measured with ${steady.name}`,
      'latency counts from the moment at which a request was due; compared is what each adds to the destination alone',
      ...(isDisturbed ? ['the destination alone was slower than what is in front of it: something disturbed it'] : []),
    ],
  };
}

/** Compares with the limit, and with what the peer adds. */
function compare(
  field: 'p50Ms' | 'p99Ms',
  { alone, through, peer }: { alone: PathFigures; through: PathFigures; peer: PathFigures },
): Comparison[] {
  const added = ({ rounds }: PathFigures) =>
    rounds.map((figures, round) => figures[field] - (alone.rounds[round]?.[field] ?? Number.NaN));
  const name = field === 'p50Ms' ? 'p50' : 'p99';
  const errors = (...paths: PathFigures[]) =>
    paths.flatMap(({ rounds }) => rounds).reduce((sum, figures: LoadFigures) => sum + figures.errors, 0);
  const ours = added(through);
  return [
    {
      unit: 'ms',
      ours,
      peer: ours.map(() => mostMs[field]),
      peerName: `limit of the added ${name}`,
      goal: { atMost: 1 },
      errors: errors(alone, through),
    },
    {
      unit: 'ms',
      ours,
      peer: added(peer),
      peerName: `${name} that ${peer.name} adds`,
      errors: errors(alone, through, peer),
    },
  ];
}
