import type { BenchmarkContext, Comparison, Outcome, PathFigures } from '../benchmark.ts';
import { type PeerName, peerNames } from '../peers/peer.ts';
import type { Goal } from '../report/statistics.ts';
import { measureInTurns } from './measure-in-turns.ts';
import { startInvocation, type Workload } from './start-invocation.ts';

export interface MeasuredWorkload extends Workload {
  /** A peer without a goal is only for orientation. */
  goals: Partial<Record<PeerName, Goal>>;
  /** Whether the destination speaks TLS. */
  isSecure?: boolean;
}

/** Requests a second through the gateway, compared with bare proxies on the same core. */
export async function measureInvocation(context: BenchmarkContext, workload: MeasuredWorkload): Promise<Outcome> {
  const { seconds, signal } = context;
  await using opened = new AsyncDisposableStack();
  const { goals, isSecure = false } = workload;
  const names = Object.keys(peerNames) as PeerName[];
  const { load, direct, ours, peers, notes } = await startInvocation(
    context,
    { workload, peerNames: names, isSecure },
    opened,
  );
  const [ourFigures, ...peerFigures] = await measureInTurns(context, [ours, ...peers], ({ request }, length) =>
    load.run(request, length, signal),
  );
  const directFigures = { name: direct.name, rounds: [await load.run(direct.request, seconds, signal)] };
  if (!ourFigures) throw new Error('Nothing was measured');
  return {
    comparisons: names.flatMap((name, index) => {
      const figures = peerFigures[index];
      return figures ? [compareRates(ourFigures, figures, goals[name])] : [];
    }),
    paths: [ourFigures, ...peerFigures, directFigures],
    notes,
  };
}

/** Compares two paths that were measured in the same rounds. */
export function compareRates(ours: PathFigures, peer: PathFigures, goal?: Goal): Comparison {
  const rates = ({ rounds }: PathFigures) => rounds.map((figures) => figures.requestsPerSecond);
  const errors = [...ours.rounds, ...peer.rounds].reduce((sum, figures) => sum + figures.errors, 0);
  return {
    unit: 'req/s',
    ours: rates(ours),
    peer: rates(peer),
    peerName: peer.name,
    errors,
    ...(goal && { goal }),
  };
}
