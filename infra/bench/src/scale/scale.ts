import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark, BenchmarkContext, Outcome } from '../benchmark.ts';
import { startInvocation } from '../invocation/start-invocation.ts';
import { detokenizing } from '../invocation/workloads.ts';
import type { LoadRequest } from '../load/load-generator.ts';
import { median } from '../report/statistics.ts';
import { inTurns } from '../rounds.ts';
import { send } from '../stack/api-client.ts';
import { type Gateway, startGateway } from '../stack/more-gateways.ts';
import { pidOf } from '../stack/start-benchmark-stack.ts';
import { createTenant } from '../stack/tenant.ts';
import { difference, readLoad } from './store-load.ts';

export const scale: Benchmark = {
  id: 'SCALE',
  work: 'processor time, statements and commands per thousand requests: one, two and four gateways, and the vault',
  goal: 'no goal; written to scale.json',
  peerName: 'nobody',
  run: measureScale,
};

/** One line of `scale.json`, for a thousand requests; `idle` is for a second without requests. */
interface Cost {
  work: string;
  processes: number;
  requests_per_second: number;
  service_cpu_seconds: number;
  postgres_cpu_seconds: number;
  redis_cpu_seconds: number;
  postgres_transactions: number;
  redis_commands: number;
  /** What a core reserved for this service could carry, computed from the processor time of a thousand. */
  core_carries_per_second: number;
  errors: number;
}

/** Load for the time of a round; or single calls, which are prepared before the measurement begins; or neither. */
interface Work {
  name: string;
  pids: number[];
  load?: LoadRequest[];
  calls?: () => Promise<LoadRequest[]>;
}

const file = join(import.meta.dirname, '..', '..', 'scale.json');
const most = 4;
/** Requests whose data no process has read before; each uses two tokens. */
const coldRequests = 1000;
/** Requests that each have their own Application, Proxy and tokens. */
const allColdRequests = 200;
const atATime = 32;

/**
 * The cost of requests for each participant, as processor time for a thousand requests, because rates say little on a
 * machine with fewer cores than processes.
 */
async function measureScale(context: BenchmarkContext): Promise<Outcome> {
  const { seconds, signal, profileDirectory } = context;
  await using opened = new AsyncDisposableStack();
  const options = { workload: detokenizing, peerNames: [] };
  const { load, stack, direct, ours, notes } = await startInvocation(context, options, opened);
  const { proxyGateway, tokenVault } = stack.serviceUrls;
  const gateways: Gateway[] = [{ url: proxyGateway, pid: stack.pid }];
  while (gateways.length < most) gateways.push(await startGateway(context, stack, opened));
  const tenant = await createTenant(stack, signal);
  const destinationUrl = new URL(direct.request.url).origin;
  const proxyKey = await tenant.createProxy(destinationUrl);
  const json = { 'SVC-API-KEY': tenant.apiKey, 'Content-Type': 'application/json' };

  const warm = (count: number): Work => ({
    name: 'invocation, warm',
    pids: gateways.slice(0, count).map(({ pid }) => pid),
    load: gateways.slice(0, count).map(({ url }) => ({ ...ours.request, url: `${url}/proxy` })),
  });
  const withTokens = (tokens: string[], headers: Record<string, string>): LoadRequest[] =>
    pairs(tokens).map((body) => ({ url: `${proxyGateway}/proxy`, headers: { ...json, ...headers }, body }));
  const works: Work[] = [
    warm(1),
    warm(2),
    warm(most),
    {
      name: 'invocation, two tokens cold',
      pids: [stack.pid],
      calls: async () => withTokens(await tenant.createTokens(2 * coldRequests), { 'SVC-PROXY-KEY': proxyKey }),
    },
    {
      name: 'invocation, all cold',
      pids: [stack.pid],
      async calls() {
        const calls: LoadRequest[] = [];
        while (calls.length < allColdRequests) {
          const own = await createTenant(stack, signal);
          const keys = { 'SVC-API-KEY': own.apiKey, 'SVC-PROXY-KEY': await own.createProxy(destinationUrl) };
          calls.push(...withTokens(await own.createTokens(2), keys));
        }
        return calls;
      },
    },
    {
      name: 'token creation',
      pids: [pidOf(stack, 'token-vault')],
      load: [
        {
          url: `${tokenVault}/tokens`,
          headers: json,
          body: JSON.stringify({ type: 'card', data: { number: '4242424242424242' } }),
        },
      ],
    },
    { name: 'idle', pids: gateways.map(({ pid }) => pid) },
  ];

  /** @returns how many requests succeeded, and how many failed. */
  async function underLoad(requests: LoadRequest[]) {
    const figures = await Promise.all(requests.map((request) => load.run(request, seconds, signal)));
    const rate = figures.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0);
    return { requests: rate * seconds, errors: figures.reduce((sum, { errors }) => sum + errors, 0) };
  }
  /** Sends each call once, `atATime` at a time. */
  async function sendEach(calls: LoadRequest[]) {
    const waiting = calls.values();
    let errors = 0;
    await Promise.all(
      Array.from({ length: atATime }, async () => {
        for (const call of waiting) if ((await send({ ...call, signal })).status !== 200) errors += 1;
      }),
    );
    return { requests: calls.length, errors };
  }
  /** Makes a second the thousand. */
  async function rest() {
    await delay(seconds * 1000);
    return { requests: seconds * 1000, errors: 0 };
  }
  async function measure(work: Work): Promise<Cost> {
    const { name, pids } = work;
    const calls = await work.calls?.();
    const before = await readLoad(stack, pids);
    const startedAt = performance.now();
    const { requests, errors } = calls ? await sendEach(calls) : await (work.load ? underLoad(work.load) : rest());
    const passed = work.load ? seconds : (performance.now() - startedAt) / 1000;
    const spent = difference(await readLoad(stack, pids), before);
    const cost = toCost({ name, processes: pids.length, requests, seconds: passed, errors }, spent);
    return calls || work.load ? cost : { ...cost, requests_per_second: 0, core_carries_per_second: 0 };
  }
  const turns = works.map((work) => ({ name: work.name, measure: () => measure(work) }));
  const costs = (await inTurns(context, turns, line)).map(medianOf);
  if (!profileDirectory) await writeFile(file, `${JSON.stringify(costs, null, 2)}\n`);
  if (costs.some(({ errors }) => errors > 0)) throw new Error('Requests failed: the figures above are of no use');
  return {
    comparisons: [],
    paths: [],
    notes: [...notes, heading, ...costs.map(line), 'per thousand requests; idle: per second, with all gateways'],
  };
}

function pairs(tokens: string[]): string[] {
  const bodies: string[] = [];
  for (let n = 0; n + 1 < tokens.length; n += 2) {
    bodies.push(JSON.stringify({ payer: `{{${tokens[n]}}}`, payee: `{{${tokens[n + 1]}}}` }));
  }
  return bodies;
}

interface Run {
  name: string;
  processes: number;
  requests: number;
  seconds: number;
  errors: number;
}

function toCost({ name, processes, requests, seconds, errors }: Run, spent: ReturnType<typeof difference>): Cost {
  const perThousand = (value: number) => Math.round((1_000_000 * value) / requests) / 1000;
  return {
    work: name,
    processes,
    requests_per_second: Math.round(requests / seconds),
    service_cpu_seconds: perThousand(spent.serviceCpu),
    postgres_cpu_seconds: perThousand(spent.postgresCpu),
    redis_cpu_seconds: perThousand(spent.redisCpu),
    postgres_transactions: perThousand(spent.transactions),
    redis_commands: perThousand(spent.redisCommands),
    core_carries_per_second: Math.round(requests / spent.serviceCpu),
    errors,
  };
}

type Figure = Exclude<keyof Cost, 'work' | 'errors'>;

/** The median of each figure by itself; errors are added. */
function medianOf(costs: Cost[]): Cost {
  const [one] = costs;
  if (!one) throw new Error('No round was measured');
  const medianFor = (name: Figure) => Math.round(1000 * median(costs.map((cost) => cost[name]))) / 1000;
  const figures = Object.keys(one).filter((name) => name !== 'work' && name !== 'errors') as Figure[];
  return {
    ...one,
    ...(Object.fromEntries(figures.map((name) => [name, medianFor(name)])) as Record<Figure, number>),
    errors: costs.reduce((sum, { errors }) => sum + errors, 0),
  };
}

const columns = [
  ['work', 28, 'work'],
  ['processes', 9, 'processes'],
  ['req/s', 7, 'requests_per_second'],
  ['service s', 10, 'service_cpu_seconds'],
  ['Postgres s', 11, 'postgres_cpu_seconds'],
  ['Redis s', 8, 'redis_cpu_seconds'],
  ['transactions', 13, 'postgres_transactions'],
  ['commands', 9, 'redis_commands'],
  ['a core carries', 15, 'core_carries_per_second'],
  ['errors', 7, 'errors'],
] as const;

const heading = columns.map(([title, width], n) => (n === 0 ? title.padEnd(width) : title.padStart(width))).join(' ');

function line(cost: Cost): string {
  const texts = columns.map(([, width, name], n) =>
    n === 0 ? cost.work.padEnd(width) : String(cost[name]).padStart(width),
  );
  return texts.join(' ');
}
