import { join } from 'node:path';
import type { BenchmarkContext, Outcome } from '../benchmark.ts';
import { findLoadGenerator } from '../load/find-load-generator.ts';
import { connections, type LoadFigures, type LoadRequest } from '../load/load-generator.ts';
import { secondsOfRound } from '../load/round-seconds.ts';
import { startSelectPeer } from '../peers/select-peer.ts';
import type { Goal } from '../report/statistics.ts';
import { startBenchmarkStack } from '../start-benchmark-stack.ts';
import { createApplication } from './create-application.ts';

/** The default pool size of a service. */
const poolSize = 10;

/**
 * Requests a second for one Application, compared with a bare SELECT of its row: by a process on the same core, with as
 * many connections to the same Postgres, and as many SELECTs at a time as requests.
 */
export async function measureLookUp(context: BenchmarkContext, goal: Goal): Promise<Outcome> {
  const { rounds, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const { load, request, peers: started } = await startLookUp(context, opened);
  const peers = started.map(({ name, peer }) => ({ name, peer, rates: [] as number[] }));

  const ours: LoadFigures[] = [];
  for (let round = 0; round <= rounds; round++) {
    const say = (name: string, rate: number) =>
      log(`  ${(round === 0 ? 'warm-up' : `round ${round}`).padEnd(8)} ${name.padEnd(24)} ${Math.round(rate)} req/s`);
    const length = secondsOfRound(round, seconds);
    const figures = await load.run(request, length, signal);
    say('sluice', figures.requestsPerSecond);
    if (round > 0) ours.push(figures);
    for (const { name, peer, rates } of peers) {
      const rate = await peer.measure(length);
      say(name, rate);
      if (round > 0) rates.push(rate);
    }
  }

  const errors = ours.reduce((sum, figures) => sum + figures.errors, 0);
  return {
    comparisons: peers.map(({ name, rates }, index) => ({
      unit: 'req/s',
      ours: ours.map(({ requestsPerSecond }) => requestsPerSecond),
      peer: rates,
      peerName: name,
      errors,
      ...(index === 0 && { goal }),
    })),
    paths: [{ name: 'sluice', rounds: ours }],
    notes: [`load generator: ${load.name}; ${poolSize} connections to Postgres`],
  };
}

/** Starts the management API, prepares a request for an Application, and starts the peers; they end with `opened`. */
export async function startLookUp(context: BenchmarkContext, opened: AsyncDisposableStack) {
  const { directory, cores, signal } = context;
  const load = await findLoadGenerator(context);
  const stack = await startBenchmarkStack('management-api', context, opened);
  const applicationId = await createApplication(stack, signal);
  const request: LoadRequest = {
    url: `${stack.serviceUrls.managementApi}/applications/${applicationId}`,
    headers: { 'SVC-API-KEY': stack.credentials.management_key },
  };
  await checkAnswer(request, applicationId, signal);

  const startPeer = async (isPrepared: boolean) => {
    const { tenant_id: tenantId } = stack.credentials;
    const logFile = join(directory, isPrepared ? 'prepared.log' : 'select.log');
    const row = { databaseUrl: stack.databaseUrl, tenantId, applicationId };
    const peer = opened.use(
      await startSelectPeer({ ...row, poolSize, concurrency: connections, isPrepared, logFile, signal }),
    );
    await cores.moveToTestedCore(peer.pid);
    return { name: isPrepared ? 'prepared SELECT over pg' : 'SELECT over pg', peer };
  };
  const peers = [await startPeer(false), await startPeer(true)];
  return { load, request, pid: stack.processes.get('management-api')?.pid, peers };
}

async function checkAnswer({ url, headers }: LoadRequest, id: string, signal: AbortSignal): Promise<void> {
  const answer = await fetch(url, { headers, signal });
  const body = (await answer.json()) as { id?: string };
  if (answer.status !== 200 || body.id !== id) throw new Error(`${url} was answered with ${answer.status}`);
}
