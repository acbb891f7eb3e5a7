import type { BenchmarkContext, Outcome } from '../benchmark.ts';
import type { Path } from '../invocation/check.ts';
import type { MeasuredWorkload } from '../invocation/measure-invocation.ts';
import { startInvocation } from '../invocation/start-invocation.ts';
import { type PeerName, peerNames } from '../peers/peer.ts';
import type { Goal } from '../report/statistics.ts';
import { type BusyProcess, measureMainThreads } from './measure-main-threads.ts';

/** Compares the gateway with the bare proxies for the same requests. */
export async function measureInvocationCpu(
  context: BenchmarkContext,
  { goals, ...workload }: MeasuredWorkload,
): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const names = Object.keys(peerNames) as PeerName[];
  const { load, ours, peers, notes } = await startInvocation(context, { workload, peerNames: names }, opened);
  const busy = ({ name, pid, request }: Path, goal?: Goal): BusyProcess => ({
    name,
    pid,
    goal,
    run: async (seconds) => {
      const { requestsPerSecond, errors } = await load.run(request, seconds, context.signal);
      return { count: requestsPerSecond * seconds, errors };
    },
  });
  const peersWithGoals = names.flatMap((name, i) => (peers[i] ? [busy(peers[i], goals[name])] : []));
  const measured = await measureMainThreads(context, [busy(ours), ...peersWithGoals]);
  return { ...measured, paths: [], notes: [...notes, ...measured.notes] };
}
