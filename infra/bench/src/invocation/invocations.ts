import { type Benchmark, type BenchmarkContext, compareRates, type Outcome } from '../benchmark.ts';
import { measureMainThreads } from '../cpu/measure-main-threads.ts';
import { peers as bareProxies, type PeerName } from '../peers/peer.ts';
import type { Goal } from '../report/statistics.ts';
import { loadInTurns } from '../rounds.ts';
import { measureCalls } from '../transforms/measure-calls.ts';
import { startInvocation } from './start-invocation.ts';
import {
  bodySize,
  detokenizing,
  guarding,
  plain,
  transforming,
  type Workload,
  withHeader,
  withPath,
} from './workloads.ts';

/** A peer without a goal is only for orientation. */
type Goals = Partial<Record<PeerName, Goal>>;

const peerNames = Object.keys(bareProxies) as PeerName[];
const authenticatedPost = `authenticated POST of ${bodySize} bytes of JSON`;
const bothGoals = 'at least 1.6 × bare http-proxy and 0.75 × bare undici dispatch';
const both: Goals = { httpProxy: { atLeast: 1.6 }, undici: { atLeast: 0.75 } };
const bothPeers = 'http-proxy 1.18.1, undici dispatch';

const ofMainThread = (
  id: string,
  what: string,
  { workload, httpProxy }: { workload: Workload; httpProxy?: { atMost: number } },
): Benchmark => ({
  id,
  name: 'cpu',
  work: `processor time of the main thread, ${what}`,
  goal: httpProxy ? `at most ${httpProxy.atMost} of http-proxy` : 'no goal',
  peerName: bothPeers,
  run: (context) => measureCpu(context, workload, httpProxy ? { httpProxy } : {}),
});

/** Requests through the gateway beside bare proxies on the same core: their rates, and main-thread time for one. */
export const invocations = {
  rates: [
    {
      id: 'P1',
      work: `${authenticatedPost}, 2 tokens detokenized, warm`,
      goal: bothGoals,
      peerName: bothPeers,
      run: (context) => measureRates(context, detokenizing, both),
    },
    {
      id: 'P1-TLS',
      work: 'P1 with TLS to the destination',
      goal: bothGoals,
      peerName: `${bothPeers}, with TLS as well`,
      run: (context) => measureRates(context, detokenizing, both, true),
    },
    {
      id: 'P2',
      work: `${authenticatedPost}, no expression, no transform`,
      goal: 'at least 1.7 × bare http-proxy',
      peerName: 'http-proxy 1.18.1',
      run: (context) => measureRates(context, plain, { httpProxy: { atLeast: 1.7 } }),
    },
    {
      id: 'P3',
      work: `${authenticatedPost}, 2 tokens detokenized, a request transform, warm`,
      goal: 'at least 1.0 × bare http-proxy',
      peerName: bothPeers,
      async run(context) {
        const outcome = await measureRates(context, transforming, { httpProxy: { atLeast: 1 } });
        return { ...outcome, notes: [...outcome.notes, ...(await measureCalls(context))] };
      },
    },
  ],
  processorTimes: [
    ofMainThread('P1-CPU', 'invocation with 2 tokens', { workload: detokenizing, httpProxy: { atMost: 0.95 } }),
    {
      id: 'P1-ROUTE-CPU',
      name: 'cpu',
      work: 'processor time of the main thread, invocation with 2 tokens by a route',
      goal: 'no goal; it is within 3 % of the same by the key of the Proxy',
      peerName: 'the same by the key of the Proxy',
      run: measureRoute,
    },
    {
      id: 'P1-GUARD-CPU',
      name: 'cpu',
      work: 'processor time of the main thread, invocation with 10 tokens and a response guard',
      goal: 'no goal',
      peerName: 'the same without a guard; http-proxy 1.18.1',
      run: measureGuard,
    },
    ofMainThread('P2-CPU', 'invocation without tokens', { workload: plain, httpProxy: { atMost: 0.62 } }),
    ofMainThread('P2-HEADER-CPU', 'invocation with a token in a header of the Proxy', { workload: withHeader }),
    ofMainThread('P2-PATH-CPU', 'invocation with a token in its path', { workload: withPath }),
    ofMainThread('P3-CPU', 'invocation with a request transform', { workload: transforming }),
  ],
} satisfies Record<string, Benchmark[]>;

/** None for the gateway of another checkout, which comes after the bare proxies. */
function goalAt(index: number, goals: Goals): Goal | undefined {
  const name = peerNames[index];
  return name && goals[name];
}

async function measureRates(
  context: BenchmarkContext,
  workload: Workload,
  goals: Goals,
  isSecure = false,
): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const { direct, ours, peers, notes } = await startInvocation(context, { workload, peerNames, isSecure }, opened);
  const paths = await loadInTurns(context, [ours, ...peers]);
  const [through = { name: ours.name, rounds: [] }, ...beside] = paths;
  const alone = { name: direct.name, rounds: [await direct.measure(context.seconds)] };
  return {
    comparisons: beside.map((peer, index) => compareRates(through, peer, goalAt(index, goals))),
    paths: [...paths, alone],
    notes,
  };
}

/** Beside the same Proxy by its key, in the same process. */
async function measureRoute(context: BenchmarkContext): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const { ours, byRoute, notes } = await startInvocation(context, { workload: detokenizing, peerNames: [] }, opened);
  const measured = await measureMainThreads(context, [byRoute, { ...ours, name: 'by the key of the Proxy' }]);
  return { ...measured, notes: [...notes, ...measured.notes] };
}

/** Beside a Proxy without a guard, in the same process, and a bare proxy. */
async function measureGuard(context: BenchmarkContext): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const options = { workload: guarding, peerNames: ['httpProxy' as const] };
  const { ours, unguarded, peers, notes } = await startInvocation(context, options, opened);
  const measured = await measureMainThreads(context, [ours, unguarded, ...peers]);
  return { ...measured, notes: [...notes, ...measured.notes] };
}

async function measureCpu(context: BenchmarkContext, workload: Workload, goals: Goals): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const { ours, peers, notes } = await startInvocation(context, { workload, peerNames }, opened);
  const withGoals = peers.map((peer, index) => ({ ...peer, goal: goalAt(index, goals) }));
  const measured = await measureMainThreads(context, [ours, ...withGoals]);
  return { ...measured, notes: [...notes, ...measured.notes] };
}
