import type { BenchmarkContext, Comparison, Outcome, PathFigures } from '../benchmark.ts';
import { answerBody, startDestination } from '../destination/destination.ts';
import { startEcho } from '../destination/echo.ts';
import { findLoadGenerator } from '../load/find-load-generator.ts';
import type { LoadGenerator } from '../load/load-generator.ts';
import { type PeerName, peerNames, startPeer } from '../peers/peer.ts';
import type { Goal } from '../report/statistics.ts';
import { startBenchmarkStack } from '../start-benchmark-stack.ts';
import { checkAnswer, checkLoad, checkReceived, type Path } from './check.ts';
import { createTenant, type Tenant } from './tenant.ts';

/** What is sent through the gateway, and what the destination is to receive of it. */
export interface Workload {
  goals: Partial<Record<PeerName, Goal>>;
  /** Members of the Proxy beside its destination. */
  proxy?: object;
  /** Whether the threads of the gateway beside its main thread may use both cores. */
  threadsOnBothCores?: boolean;
  prepare(tenant: Tenant): Promise<{ sent: object; received: object }>;
}

/**
 * Requests a second through the gateway, beside bare proxies on the same core with the same requests. First the
 * destination's place is taken by an echo, to see that each path delivers what it should.
 */
export async function measureInvocation(context: BenchmarkContext, workload: Workload): Promise<Outcome> {
  const { signal } = context;
  await using opened = new AsyncDisposableStack();
  const load = await findLoadGenerator(context);
  const echo = opened.use(await startEcho());
  const destinationUrl = `http://127.0.0.1:${echo.port}`;

  const stack = await startBenchmarkStack('proxy-gateway', context, opened);
  if (workload.threadsOnBothCores) await context.cores.spreadThreads(stack.processes.get('proxy-gateway')?.pid);

  const tenant = await createTenant(stack, signal);
  const { sent, received } = await workload.prepare(tenant);
  const body = JSON.stringify(sent);
  const headers = {
    'Content-Type': 'application/json',
    'SVC-API-KEY': tenant.apiKey,
    'SVC-PROXY-KEY': await tenant.createProxy(destinationUrl, workload.proxy),
  };
  const path = (name: string, origin: string): Path => ({ name, request: { url: `${origin}/proxy`, headers, body } });

  const direct = path('destination directly', destinationUrl);
  await checkLoad(load, direct, echo, signal);
  const ours = path('sluice', stack.serviceUrls.proxyGateway);
  await checkReceived(ours, received, signal);
  const peers: Path[] = [];
  for (const { name, url } of await startPeers(context, destinationUrl, opened)) peers.push(path(name, url));
  for (const peer of peers) await checkReceived(peer, sent, signal);

  await echo[Symbol.asyncDispose]();
  const destination = opened.use(await startDestination(context, echo.port));
  for (const each of [direct, ours, ...peers]) await checkAnswer(each, answerBody, signal);

  const [ourFigures, ...peerFigures] = await measureInTurns([ours, ...peers], { load, context });
  const directFigures = { name: direct.name, rounds: [await load.run(direct.request, context.seconds, signal)] };
  if (!ourFigures) throw new Error('Nothing was measured');
  return {
    comparisons: Object.keys(peerNames).flatMap((name, index) => {
      const figures = peerFigures[index];
      return figures ? [compare(ourFigures, figures, workload.goals[name as PeerName])] : [];
    }),
    paths: [ourFigures, ...peerFigures, directFigures],
    notes: [`load generator: ${load.name}; destination: ${destination.name}`],
  };
}

async function startPeers(
  { directory, cores, signal }: BenchmarkContext,
  destinationUrl: string,
  opened: AsyncDisposableStack,
): Promise<{ name: string; url: string }[]> {
  const started = [];
  for (const name of Object.keys(peerNames) as PeerName[]) {
    const { pid, url } = opened.use(await startPeer(name, { destinationUrl, directory, signal }));
    await cores.moveToTestedCore(pid);
    started.push({ name: peerNames[name], url });
  }
  return started;
}

/** A B C A B C: what slows the machine down for a while slows all of them. The round before the first warms up. */
async function measureInTurns(
  paths: Path[],
  { load, context: { rounds, seconds, log, signal } }: { load: LoadGenerator; context: BenchmarkContext },
): Promise<PathFigures[]> {
  const measured = paths.map((path) => ({ ...path, rounds: [] as PathFigures['rounds'] }));
  for (let round = 0; round <= rounds; round++) {
    for (const path of measured) {
      const figures = await load.run(path.request, seconds, signal);
      const name = round === 0 ? 'warm-up' : `round ${round}`;
      log(`  ${name.padEnd(8)} ${path.name.padEnd(20)} ${Math.round(figures.requestsPerSecond)} req/s`);
      if (round > 0) path.rounds.push(figures);
    }
  }
  return measured;
}

function compare(ours: PathFigures, peer: PathFigures, goal: Goal | undefined): Comparison {
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
