import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@sluice/local';
import {
  type Benchmark,
  type BenchmarkContext,
  type Comparison,
  errorsOf,
  type Outcome,
  type PathFigures,
} from '../benchmark.ts';
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
  work: "p99 of one Tenant's transforms beside 1,000 runs of four others, which wait for four slow destinations; its p50 beside loops and memory bombs of one",
  goal: 'at most 1.5 × its p99 alone, and none of its requests is refused',
  peerName: 'the same Tenant alone',
  run: measureWaitingRuns,
};

const requestsPerSecond = 200;
const waitingTenants = 4;
const runsOfEach = 250;
/** More than end during a measurement. */
const hostileRuns = 60;
const hostileCode = {
  loops: 'module.exports = () => { for (;;); }',
  'memory bombs': 'module.exports = () => { const all = []; for (;;) all.push(new Uint8Array(2 ** 20).fill(7)) }',
};
/** Otherwise all but the first runs would be refused; a Tenant could use other reactors for them. */
const neverSuspended = { TRANSFORM_BREAKER_KILLS: '0' };

/** A Tenant's reactor, by its URL and the Tenant's key, and how many runs of it begin at once. */
interface Runner {
  url: string;
  headers: Record<string, string>;
  runs: number;
}

async function measureWaitingRuns(context: BenchmarkContext): Promise<Outcome> {
  const { directory, rounds, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const port = await freePort();
  await startDestination(context, { port }, opened);
  const stack = await startBenchmarkStack('proxy-gateway', context, opened, neverSuspended);
  const waiters: Runner[] = [];
  for (let at = 0; at < waitingTenants; at += 1) waiters.push(await openWaiter(stack, context, opened));
  const hostile: { path: PathFigures; runners: Runner[] }[] = [];
  for (const [name, code] of Object.entries(hostileCode)) {
    const path = { name: `beside ${name} of one Tenant`, rounds: [] };
    hostile.push({ path, runners: [await openRunner(stack, { code, runs: hostileRuns }, signal)] });
  }
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
    const line = `${path.name.padEnd(32)} p50, p99 ${figures.p50Ms.toFixed(1)}, ${figures.p99Ms.toFixed(1)} ms; CPU time of main thread, others ${used.join(', ')}`;
    log(`  ${line}`);
    spent.push(line);
  }

  async function measureBeside(runners: readonly Runner[], path: PathFigures): Promise<void> {
    const ids = await Promise.all(runners.map((runner) => beginRuns(runner, signal)));
    await measure(path);
    const cancelled = await Promise.all(runners.map((runner, at) => cancelRuns(runner, ids[at] ?? [], signal)));
    left.push(cancelled.reduce((sum, count) => sum + count, 0));
    await untilIdle(stack.pid, signal);
  }

  await steady.run(request, warmUpSeconds(seconds), signal);
  for (let round = 1; round <= rounds; round += 1) {
    await measure(alone);
    await measureBeside(waiters, beside);
    for (const { path, runners } of hostile) await measureBeside(runners, path);
  }
  const p99 = ({ rounds: of }: PathFigures) => of.map(({ p99Ms }) => p99Ms);
  const p50 = ({ rounds: of }: PathFigures) => of.map(({ p50Ms }) => p50Ms);
  const paths = [alone, beside, ...hostile.map(({ path }) => path)];
  const errors = errorsOf(...paths);
  return {
    comparisons: [
      { unit: 'ms', ours: p99(beside), peer: p99(alone), peerName: 'alone', goal: { atMost: 1.5 }, errors },
      ...hostile.map(
        ({ path }): Comparison => ({
          ...{ unit: 'ms', ours: p50(path), peer: p50(alone), peerName: `p50 alone; ${path.name}`, errors },
        }),
      ),
    ],
    paths,
    notes: [
      `the good Tenant sends ${steady.name}; latency counts from the moment at which a request was due`,
      `each destination of a run answers after a second; runs that still waited at the end of each: ${left.join(', ')}`,
      ...spent,
    ],
  };
}

async function openWaiter(
  stack: BenchmarkStack,
  { directory, signal }: BenchmarkContext,
  opened: AsyncDisposableStack,
): Promise<Runner> {
  const file = join(import.meta.dirname, 'hostile-destination.process.ts');
  const logFile = join(directory, 'slow-destination.log');
  const destination = opened.use(await startListening({ file, logFile, signal }));
  const code = `module.exports = async () => ({ raw: (await fetch('${destination.url}/late')).status })`;
  return openRunner(stack, { code, runs: runsOfEach }, signal);
}

/** A Tenant of its own. */
async function openRunner(
  stack: BenchmarkStack,
  { code, runs }: { code: string; runs: number },
  signal: AbortSignal,
): Promise<Runner> {
  const { headers: manage } = await addTenant(stack, signal);
  const credentials = { ...stack.credentials, management_key: manage['SVC-API-KEY'] };
  const { apiKey } = await createTenant({ ...stack, credentials }, signal);
  const { body } = await fetchJson<{ id: string }>({
    url: `${stack.serviceUrls.managementApi}/reactors`,
    headers: { ...manage, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Benchmark', code }),
    signal,
  });
  const headers = { 'SVC-API-KEY': apiKey, 'Content-Type': 'application/json' };
  return { url: `${stack.serviceUrls.proxyGateway}/reactors/${body.id}`, headers, runs };
}

async function beginRuns({ url, headers, runs }: Runner, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < runs) {
    const { body } = await fetchJson<{ async_reactor_request_id: string }>({
      ...{ url: `${url}/react-async`, headers, body: '{}', signal },
    });
    ids.push(body.async_reactor_request_id);
  }
  return ids;
}

/** @returns how many had not begun to call out. */
async function cancelRuns({ url, headers }: Runner, ids: readonly string[], signal: AbortSignal): Promise<number> {
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
