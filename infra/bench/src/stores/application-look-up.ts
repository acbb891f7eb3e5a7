import { type Benchmark, type BenchmarkContext, compareRates, type Outcome, type PathFigures } from '../benchmark.ts';
import { measureMainThreads } from '../cpu/measure-main-threads.ts';
import type { LoadRequest } from '../load/load-generator.ts';
import { findLoadGenerator } from '../load/wrk.ts';
import { poolSize, startPgPeer } from '../peers/pg-peer.ts';
import { loadInTurns } from '../rounds.ts';
import { fetchJson } from '../stack/api-client.ts';
import { startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { createTenant } from '../stack/tenant.ts';

export const applicationLookUp: Benchmark = {
  id: 'P7',
  work: 'GET /applications/{id}, authenticated, warm',
  goal: 'at least 0.8 × a bare parameterised SELECT of the row over pg',
  peerName: 'SELECT over pg',
  run: measureRates,
};

export const applicationLookUpCpu: Benchmark = {
  id: 'P7-CPU',
  name: 'cpu',
  work: 'processor time of the main thread, GET /applications/{id}',
  goal: 'no goal',
  peerName: 'SELECT over pg',
  async run(context) {
    await using opened = new AsyncDisposableStack();
    const { ours, peers } = await start(context, opened);
    return await measureMainThreads(context, [ours, ...peers]);
  },
};

/**
 * Requests a second for one Application, compared with a bare SELECT of its row: by a process on the same core, with as
 * many connections to the same Postgres, and as many SELECTs at a time as requests.
 */
async function measureRates(context: BenchmarkContext): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const { load, ours, peers } = await start(context, opened);
  const [sluice, unnamed, prepared] = (await loadInTurns(context, [ours, ...peers])) as [
    PathFigures,
    PathFigures,
    PathFigures,
  ];
  return {
    comparisons: [compareRates(sluice, unnamed, { atLeast: 0.8 }), compareRates(sluice, prepared)],
    paths: [sluice],
    notes: [`load generator: ${load.name}; ${poolSize} connections to Postgres`],
  };
}

const rule = { description: 'Cards', priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] };

/** Starts the management API, prepares a request for an Application, and starts the peers; they end with `opened`. */
async function start(context: BenchmarkContext, opened: AsyncDisposableStack) {
  const { signal } = context;
  const load = await findLoadGenerator(context);
  const stack = await startBenchmarkStack('management-api', context, opened);
  const grants = { permissions: ['token:create'], rules: [rule] };
  const { applicationId } = await createTenant(stack, signal, grants);
  const request: LoadRequest = {
    url: `${stack.serviceUrls.managementApi}/applications/${applicationId}`,
    headers: { 'SVC-API-KEY': stack.credentials.management_key },
  };
  const { body } = await fetchJson<{ id?: string }>({ ...request, signal });
  if (body.id !== applicationId) throw new Error(`${request.url} was answered with another Application`);
  const peers = [
    await startPgPeer(context, stack, { name: 'SELECT over pg', applicationId }, opened),
    await startPgPeer(context, stack, { name: 'prepared SELECT over pg', applicationId, isPrepared: true }, opened),
  ];
  const measure = (seconds: number) => load.run(request, seconds, signal);
  return { load, ours: { name: 'sluice', pid: stack.pid, measure }, peers };
}
