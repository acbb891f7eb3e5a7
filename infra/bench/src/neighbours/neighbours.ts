import { join } from 'node:path';
import { freePort } from '@sluice/local';
import {
  type Benchmark,
  type BenchmarkContext,
  type Comparison,
  errorsOf,
  limited,
  type Outcome,
  type PathFigures,
} from '../benchmark.ts';
import { readCoreBusy, readThreadTimes } from '../cpu/threads.ts';
import { startDestination } from '../destination/destination.ts';
import { fixedRate } from '../load/fixed-rate.ts';
import { startListening } from '../processes/owned-process.ts';
import { median } from '../report/statistics.ts';
import { warmUpSeconds } from '../rounds.ts';
import { startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { addTenant, createTenant } from '../stack/tenant.ts';
import { attackDuring, type HostileRequest, untilIdle } from './attack-during.ts';
import type { Answers } from './attackers.process.ts';
import { attacksWith, costlyValues, plainComputing } from './attacks.ts';

export const neighbours: Benchmark = {
  id: 'P14',
  name: 'neighbours',
  work: "p99 of one Tenant's invocations while another sends the worst known small requests",
  goal: 'at most 2 × its p99 alone, and never over 100 ms more',
  peerName: 'the same Tenant alone; that limit',
  run: measureNeighbours,
};

/** The rate of the good Tenant, far below a gateway's capacity, so that it waits only for others. */
const requestsPerSecond = 200;
/** Concurrent requests of the attacker. */
const atOnce = 24;

/** The good Tenant's latencies, and what the gateway's main thread did meanwhile, as parts of the time. */
interface Measured extends PathFigures {
  worked: number[];
  /** It could have gone on, but other threads had its core. */
  waited: number[];
  /** Other processes had its core. */
  strangers: number[];
  answers: Answers;
}

/**
 * The 99th percentile of one Tenant's latency alone and during each attack of another, in the same rounds. The attackers
 * and their destination are processes of the lowest priority, because they stand for other machines.
 */
async function measureNeighbours(context: BenchmarkContext): Promise<Outcome> {
  const { directory, rounds, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const { pid, request, attacks } = await startNeighbours(context, opened);
  const steady = fixedRate(requestsPerSecond, directory);
  const emptyPath = (name: string): Measured => {
    return { name, rounds: [], worked: [], waited: [], strangers: [], answers: {} };
  };
  const alone = emptyPath('alone');
  const beside = attacks.map((attack) => ({ attack, path: emptyPath(attack.name) }));

  async function measure(path: Measured): Promise<void> {
    const [before, busyBefore] = [await readThreadTimes(pid), await readCoreBusy(0)];
    const begunAt = performance.now();
    const figures = await steady.run(request, seconds, signal);
    const nanoseconds = (performance.now() - begunAt) * 1e6;
    const [after, busyAfter] = [await readThreadTimes(pid), await readCoreBusy(0)];
    const own = after.main + after.others - before.main - before.others;
    path.rounds.push(figures);
    path.worked.push((after.main - before.main) / nanoseconds);
    path.waited.push((after.mainWaited - before.mainWaited) / nanoseconds);
    path.strangers.push(Math.max(0, busyAfter - busyBefore - own) / nanoseconds);
    log(`  ${path.name.padEnd(44)} p99 ${figures.p99Ms.toFixed(1).padStart(6)} ms  ${mainThreadOf(path)}`);
  }

  await steady.run(request, warmUpSeconds(seconds), signal);
  for (let round = 1; round <= rounds; round += 1) {
    await measure(alone);
    for (const { attack, path } of beside) {
      const answers = await attackDuring(context, attack, () => measure(path));
      for (const [status, count] of Object.entries(answers)) path.answers[status] = (path.answers[status] ?? 0) + count;
      log(`    answers ${JSON.stringify(answers)}`);
      await untilIdle(pid, signal);
    }
  }
  return outcomeOf(
    alone,
    beside.map(({ path }) => path),
    [
      `the good Tenant sends ${steady.name}; the other keeps ${atOnce} requests under way, unless another number is named`,
      'latency counts from the moment at which a request was due',
    ],
  );
}

/** The stack, the good Tenant's request, and the requests of the attacks; the first one is {@link plainComputing}. */
async function startNeighbours(context: BenchmarkContext, opened: AsyncDisposableStack) {
  const { directory, signal } = context;
  const port = await freePort();
  await startDestination(context, { port }, opened);
  const file = join(import.meta.dirname, 'hostile-destination.process.ts');
  const logFile = join(directory, 'hostile-destination.log');
  const hostileDestination = opened.use(await startListening({ file, logFile, signal }));
  const stack = await startBenchmarkStack('proxy-gateway', context, opened);
  const url = `${stack.serviceUrls.proxyGateway}/proxy`;
  const attacker = await addTenant(stack, signal);
  const credentials = { ...stack.credentials, management_key: attacker.headers['SVC-API-KEY'] };
  const permissions = ['token:create', 'token:use', 'token:read'];
  const hostile = await createTenant({ ...stack, credentials }, signal, { permissions });
  const good = await createTenant(stack, signal);
  const [small = ''] = await hostile.createTokens(1);
  const tokens = { small, costly: await hostile.createToken(costlyValues) };
  const attacks = await Promise.all(
    [plainComputing, ...attacksWith(tokens)].map(async (attack): Promise<HostileRequest> => {
      const { name, body, answer = '', usesTokens = false, proxy, headers } = attack;
      const application = usesTokens ? { application: { id: hostile.applicationId } } : {};
      const destinationUrl = `${hostileDestination.url}/${encodeURIComponent(answer)}`;
      const proxyKey = await hostile.createProxy(destinationUrl, { ...application, ...proxy });
      const keys = { 'SVC-API-KEY': hostile.apiKey, 'SVC-PROXY-KEY': proxyKey };
      return { name, url, body, headers: { ...headers, ...keys }, attempts: { atOnce, ...attack.attempts } };
    }),
  );
  const headers = {
    'Content-Type': 'application/json',
    'SVC-API-KEY': good.apiKey,
    'SVC-PROXY-KEY': await good.createProxy(`http://127.0.0.1:${port}`),
  };
  return { pid: stack.pid, request: { url, headers, body: '{"amount":100}' }, attacks };
}

const percent = (part: number) => `${Math.round(100 * part)} %`;

function mainThreadOf({ worked, waited, strangers }: Measured): string {
  const [work, wait, others] = [worked, waited, strangers].map((parts) => percent(median(parts)));
  return `main thread worked ${work}, waited for its core ${wait}, strangers had ${others}`;
}

/** Each attack as a multiple of the Tenant's own p99 alone, and beside a plain transform; the worst of all in ms. */
function outcomeOf(alone: Measured, beside: readonly Measured[], notes: readonly string[]): Outcome {
  const p99 = ({ rounds }: PathFigures) => rounds.map(({ p99Ms }) => p99Ms);
  const errors = errorsOf(alone, ...beside);
  const base = p99(alone);
  const [reference = alone, ...attacks] = beside;
  const comparisons = beside.flatMap((path): Comparison[] => {
    const ours = p99(path);
    const besideAlone = { unit: 'ms', ours, peer: base, peerName: `alone; beside ${path.name}`, errors } as const;
    if (path === reference) return [besideAlone];
    const peerName = `beside a plain transform; ${path.name}`;
    return [
      { ...besideAlone, goal: { atMost: 2 } },
      { unit: 'ms', ours, peer: p99(reference), peerName, errors },
    ];
  });
  const mostAdded = base.map((value, round) => Math.max(...attacks.map((path) => (p99(path)[round] ?? 0) - value), 0));
  const limit = limited('ms', mostAdded, { limit: 100, name: 'limit; added by the worst', errors });
  const told = [alone, ...beside].map((path) => {
    const answers = path === alone ? '' : `; answers ${JSON.stringify(path.answers)}`;
    return `${path.name}: ${mainThreadOf(path)}${answers}`;
  });
  return { comparisons: [...comparisons, limit], paths: [alone, ...beside], notes: [...notes, ...told] };
}
