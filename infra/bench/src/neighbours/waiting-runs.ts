import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@sluice/local';
import { type Benchmark, type BenchmarkContext, errorsOf, type Outcome, type PathFigures } from '../benchmark.ts';
import { readThreadTimes } from '../cpu/threads.ts';
import { startDestination } from '../destination/destination.ts';
import { fixedRate } from '../load/fixed-rate.ts';
import { startListening } from '../processes/owned-process.ts';
import { warmUpSeconds } from '../rounds.ts';
import { fetchJson, send } from '../stack/api-client.ts';
import { type BenchmarkStack, startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { addTenant, createTenant } from '../stack/tenant.ts';
import { untilIdle } from './attack-during.ts';

export const waitingRuns: Benchmark = {
  id: 'P17',
  name: 'neighbours',
  work: "p99 of one Tenant's transforms beside 1,000 runs of four others, which wait for four slow destinations",
  goal: 'at most 1.5 × its p99 alone, and none of its requests is refused',
  peerName: 'the same Tenant alone',
  run: measureWaitingRuns,
};

const requestsPerSecond = 200;
const waitingTenants = 4;
const runsOfEach = 250;

/** A Tenant whose runs wait, by its key and its reactor. */
interface Waiter {
  url: string;
  headers: Record<string, string>;
}

async function measureWaitingRuns(context: BenchmarkContext): Promise<Outcome> {
  const { directory, rounds, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const port = await freePort();
  await startDestination(context, { port }, opened);
  const stack = await startBenchmarkStack('proxy-gateway', context, opened);
  const waiters: Waiter[] = [];
  for (let at = 0; at < waitingTenants; at += 1) waiters.push(await openWaiter(stack, context, opened));
  const request = await prepareTransform(stack, `http://127.0.0.1:${port}`, signal);
  const steady = fixedRate(requestsPerSecond, directory);
  const alone: PathFigures = { name: 'alone', rounds: [] };
  const beside: PathFigures = { name: `beside ${waitingTenants * runsOfEach} runs that wait`, rounds: [] };
  const left: number[] = [];
  const spent: string[] = [];

  async function measure(path: PathFigures): Promise<void> {
    const before = await readThreadTimes(stack.pid);
    const figures = await steady.run(request, seconds, signal);
    const after = await readThreadTimes(stack.pid);
    path.rounds.push(figures);
    const used = [after.main - before.main, after.others - before.others].map((ns) => `${Math.round(ns / 1e6)} ms`);
    const line = `${path.name.padEnd(32)} p99 ${figures.p99Ms.toFixed(1)} ms; CPU time of main thread, others ${used.join(', ')}`;
    log(`  ${line}`);
    spent.push(line);
  }

  await steady.run(request, warmUpSeconds(seconds), signal);
  for (let round = 1; round <= rounds; round += 1) {
    await measure(alone);
    const ids = await Promise.all(waiters.map((waiter) => beginRuns(waiter, signal)));
    await measure(beside);
    const cancelled = await Promise.all(waiters.map((waiter, at) => cancelRuns(waiter, ids[at] ?? [], signal)));
    left.push(cancelled.reduce((sum, count) => sum + count, 0));
    await untilIdle(stack.pid, signal);
  }
  const p99 = ({ rounds: of }: PathFigures) => of.map(({ p99Ms }) => p99Ms);
  const errors = errorsOf(alone, beside);
  return {
    comparisons: [
      { unit: 'ms', ours: p99(beside), peer: p99(alone), peerName: 'alone', goal: { atMost: 1.5 }, errors },
    ],
    paths: [alone, beside],
    notes: [
      `the good Tenant sends ${steady.name}; latency counts from the moment at which a request was due`,
      `each destination of a run answers after a second; runs that still waited at the end: ${left.join(', ')}`,
      ...spent,
    ],
  };
}

async function openWaiter(
  stack: BenchmarkStack,
  { directory, signal }: BenchmarkContext,
  opened: AsyncDisposableStack,
): Promise<Waiter> {
  const file = join(import.meta.dirname, 'hostile-destination.process.ts');
  const logFile = join(directory, 'slow-destination.log');
  const destination = opened.use(await startListening({ file, logFile, signal }));
  const { headers: manage } = await addTenant(stack, signal);
  const credentials = { ...stack.credentials, management_key: manage['SVC-API-KEY'] };
  const { apiKey } = await createTenant({ ...stack, credentials }, signal);
  const code = `module.exports = async () => ({ raw: (await fetch('${destination.url}/late')).status })`;
  const { body } = await fetchJson<{ id: string }>({
    url: `${stack.serviceUrls.managementApi}/reactors`,
    headers: { ...manage, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Waiting', code }),
    signal,
  });
  const headers = { 'SVC-API-KEY': apiKey, 'Content-Type': 'application/json' };
  return { url: `${stack.serviceUrls.proxyGateway}/reactors/${body.id}`, headers };
}

async function beginRuns({ url, headers }: Waiter, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < runsOfEach) {
    const { body } = await fetchJson<{ async_reactor_request_id: string }>({
      ...{ url: `${url}/react-async`, headers, body: '{}', signal },
    });
    ids.push(body.async_reactor_request_id);
  }
  return ids;
}

/** @returns how many had not begun to call out. */
async function cancelRuns({ url, headers }: Waiter, ids: readonly string[], signal: AbortSignal): Promise<number> {
  let cancelled = 0;
  for (const id of ids) {
    const { status } = await send({ url: `${url}/results/${id}`, method: 'DELETE', headers, signal });
    if (status === 204) cancelled += 1;
  }
  await sleep(2000, undefined, { signal }); // those that call out end by themselves
  return cancelled;
}

async function prepareTransform(stack: BenchmarkStack, destination: string, signal: AbortSignal) {
  const good = await createTenant(stack, signal);
  const code = 'module.exports = async ({ args }) => ({ body: { ...args.body, seen: true } })';
  const proxyKey = await good.createProxy(destination, { request_transform: { code } });
  const headers = { 'Content-Type': 'application/json', 'SVC-API-KEY': good.apiKey, 'SVC-PROXY-KEY': proxyKey };
  const request = { url: `${stack.serviceUrls.proxyGateway}/proxy`, headers, body: '{"amount":100}' };
  const { status, body } = await send({ ...request, signal });
  if (status !== 200) throw new Error(`The good Tenant was answered with ${status}: ${body.slice(0, 300)}`);
  return request;
}
