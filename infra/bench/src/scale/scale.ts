import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Benchmark, BenchmarkContext, Outcome } from '../benchmark.ts';
import { startInvocation } from '../invocation/start-invocation.ts';
import { detokenizing } from '../invocation/workloads.ts';
import type { LoadRequest } from '../load/load-generator.ts';
import { median } from '../report/statistics.ts';
import { send } from '../stack/api-client.ts';
import { type Gateway, startGateway } from '../stack/more-gateways.ts';
import { pidOf } from '../stack/start-benchmark-stack.ts';
import { openTenant } from '../stack/tenant.ts';
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

interface Work {
  name: string;
  pids: number[];
  /** @returns how many requests succeeded, and how many failed. */
  run(round: number): Promise<{ requests: number; errors: number }>;
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
  const { seconds, signal, rounds, log, profileDirectory } = context;
  await using opened = new AsyncDisposableStack();
  const options = { workload: detokenizing, peerNames: [] };
  const { load, stack, direct, ours, notes } = await startInvocation(context, options, opened);
  const { proxyGateway, tokenVault } = stack.serviceUrls;
  const first = { url: proxyGateway, pid: stack.pid };
  const gateways: Gateway[] = [first];
  while (gateways.length < most) gateways.push(await startGateway(context, stack, opened));
  const destinationUrl = new URL(direct.request.url).origin;

  const under = async (requests: LoadRequest[]) => {
    const figures = await Promise.all(requests.map((request) => load.run(request, seconds, signal)));
    const rate = figures.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0);
    return { requests: rate * seconds, errors: figures.reduce((sum, { errors }) => sum + errors, 0) };
  };
  const warm = (count: number): Work => ({
    name: 'invocation, warm',
    pids: gateways.slice(0, count).map(({ pid }) => pid),
    run: () => under(gateways.slice(0, count).map(({ url }) => ({ ...ours.request, url: `${url}/proxy` }))),
  });
  const tenant = await openTenant(stack, signal);
  const shared = { 'SVC-API-KEY': tenant.apiKey, 'SVC-PROXY-KEY': await tenant.createProxy(destinationUrl) };
  const works: Work[] = [
    warm(1),
    warm(2),
    warm(most),
    {
      name: 'invocation, two tokens cold',
      pids: [first.pid],
      run: async () => {
        const tokens = await tenant.createTokens(2 * coldRequests);
        return inTurn(pairs(tokens).map((body) => ({ headers: shared, body })));
      },
    },
    {
      name: 'invocation, all cold',
      pids: [first.pid],
      run: async () => {
        const calls: Call[] = [];
        for (let n = 0; n < allColdRequests; n++) {
          const own = await openTenant(stack, signal);
          const headers = { 'SVC-API-KEY': own.apiKey, 'SVC-PROXY-KEY': await own.createProxy(destinationUrl) };
          calls.push(...pairs(await own.createTokens(2)).map((body) => ({ headers, body })));
        }
        return inTurn(calls);
      },
    },
    {
      name: 'token creation',
      pids: [pidOf(stack, 'token-vault')],
      run: () =>
        under([
          {
            url: `${tokenVault}/tokens`,
            headers: { 'SVC-API-KEY': tenant.apiKey, 'Content-Type': 'application/json' },
            body: JSON.stringify({ type: 'card', data: { number: '4242424242424242' } }),
          },
        ]),
    },
  ];

  interface Call {
    headers: Record<string, string>;
    body: string;
  }
  /** Sends each call once, `atATime` at a time. The measurement begins here, so that preparation does not count. */
  async function inTurn(calls: Call[]) {
    begun = await readLoad(stack, [first.pid]);
    const startedAt = performance.now();
    const waiting = calls.values();
    let errors = 0;
    await Promise.all(
      Array.from({ length: atATime }, async () => {
        for (const { headers, body } of waiting) {
          const json = { ...headers, 'Content-Type': 'application/json' };
          const { status } = await send({ url: `${first.url}/proxy`, headers: json, body, signal });
          if (status !== 200) errors += 1;
        }
      }),
    );
    elapsed = (performance.now() - startedAt) / 1000;
    return { requests: calls.length, errors };
  }
  let begun: Awaited<ReturnType<typeof readLoad>> | undefined;
  let elapsed: number | undefined;

  const costs: Cost[] = [];
  for (const { name, pids, run } of works) {
    const ofRounds: Cost[] = [];
    for (let round = 0; round <= rounds; round++) {
      signal.throwIfAborted();
      const before = await readLoad(stack, pids);
      begun = undefined;
      elapsed = undefined;
      const { requests, errors } = await run(round);
      const spent = difference(await readLoad(stack, pids), begun ?? before);
      const cost = toCost({ name, processes: pids.length, requests, seconds: elapsed ?? seconds, errors }, spent);
      log(`  ${(round === 0 ? 'warm-up' : `round ${round}`).padEnd(8)} ${line(cost)}`);
      if (round > 0) ofRounds.push(cost);
    }
    costs.push(medianOf(ofRounds));
  }
  costs.push(await measureIdle());
  if (!profileDirectory) await writeFile(file, `${JSON.stringify(costs, null, 2)}\n`);
  if (costs.some(({ errors }) => errors > 0)) throw new Error('Requests failed: the figures above are of no use');
  return {
    comparisons: [],
    paths: [],
    notes: [...notes, heading, ...costs.map(line), 'per thousand requests; idle: per second, with all gateways'],
  };

  async function measureIdle(): Promise<Cost> {
    const pids = gateways.map(({ pid }) => pid);
    const before = await readLoad(stack, pids);
    const startedAt = performance.now();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const spent = difference(await readLoad(stack, pids), before);
    const passed = (performance.now() - startedAt) / 1000;
    // As many requests as make a second the thousand
    const cost = toCost(
      { name: 'idle', processes: pids.length, requests: passed * 1000, seconds: passed, errors: 0 },
      spent,
    );
    return { ...cost, requests_per_second: 0, core_carries_per_second: 0 };
  }
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
