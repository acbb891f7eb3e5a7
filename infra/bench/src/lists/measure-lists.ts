import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { BenchmarkContext, Comparison, Outcome } from '../benchmark.ts';
import { type Goal, median } from '../report/statistics.ts';
import { startBenchmarkStack } from '../start-benchmark-stack.ts';
import { fillTenants } from './fill-tenant.ts';
import { createListTenant, type ListTenant, namePart } from './list-tenant.ts';

const sizes = { small: 1000, large: 1_000_000 };

interface List {
  name: string;
  path: (tenant: ListTenant) => string;
  /** The number of items on all pages. */
  total: (size: number) => number;
}

const lists: List[] = [
  { name: 'applications', path: () => '/applications', total: (size) => size },
  { name: 'applications by id', path: ({ applicationId }) => `/applications?id=${applicationId}`, total: () => 1 },
  { name: 'proxies', path: () => '/proxies', total: (size) => size },
  { name: 'proxies by id', path: ({ proxyId }) => `/proxies?id=${proxyId}`, total: () => 1 },
  { name: 'proxies by name', path: () => `/proxies?name=*${namePart}*`, total: () => 50 },
];

/**
 * Compares single requests for the first page of each list in a large and in a small Tenant, in turns, so that a slow
 * phase of the machine affects both.
 */
export async function measureLists(context: BenchmarkContext, goal: Goal): Promise<Outcome> {
  const { directory, rounds, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const stack = await startBenchmarkStack('management-api', context, opened);
  const newTenant = () => createListTenant(stack, join(directory, 'stack'), signal);
  const small = { ...(await newTenant()), size: sizes.small };
  const large = { ...(await newTenant()), size: sizes.large };
  log(`Filling one Tenant with ${sizes.small} rows of each kind and one with ${sizes.large}`);
  await fillTenants(stack.databaseUrl, [small, large]);

  const agent = opened.adopt(new Agent({ keepAlive: true, maxSockets: 1 }), (it) => it.destroy());
  const send = async ({ path, total }: List, tenant: ListTenant & { size: number }): Promise<number> => {
    const start = performance.now();
    const url = stack.serviceUrls.managementApi + path(tenant);
    const { status, body } = await request(url, { agent, headers: tenant.headers, signal });
    const took = performance.now() - start;
    if (status !== 200 || body.pagination.total_items !== total(tenant.size)) {
      throw new Error(`${url} was answered with ${status}: ${JSON.stringify(body).slice(0, 300)}`);
    }
    return took;
  };

  const figures = lists.map((list) => ({ list, ours: [] as number[], peer: [] as number[] }));
  for (let round = 0; round <= rounds; round++) {
    for (const { list, ours, peer } of figures) {
      const times = { small: [] as number[], large: [] as number[] };
      const deadline = performance.now() + (1000 * seconds) / lists.length;
      while (performance.now() < deadline) {
        times.large.push(await send(list, large));
        times.small.push(await send(list, small));
      }
      const [inLarge, inSmall] = [median(times.large), median(times.small)];
      const name = round === 0 ? 'warm-up' : `round ${round}`;
      log(`  ${name.padEnd(8)} ${list.name.padEnd(20)} ${inLarge.toFixed(2)} ms, ${inSmall.toFixed(2)} ms`);
      if (round === 0) continue;
      ours.push(inLarge);
      peer.push(inSmall);
    }
  }
  return {
    comparisons: figures.map(
      ({ list, ours, peer }): Comparison => ({
        unit: 'ms',
        ours,
        peer,
        peerName: `${list.name}, ${sizes.small.toLocaleString('en')} rows`,
        goal,
        errors: 0,
      }),
    ),
    paths: [],
    notes: [`medians of one request at a time; ours: with ${sizes.large.toLocaleString('en')} rows`],
  };
}

interface Page {
  pagination: { total_items: number };
}

/** Uses node:http, which adds less time than fetch. */
function request(
  url: string,
  options: { agent: Agent; headers: Record<string, string>; signal: AbortSignal },
): Promise<{ status: number | undefined; body: Page }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: Page }>();
  get(url, options, (answer) => {
    json(answer).then((body) => resolve({ status: answer.statusCode, body: body as Page }), reject);
  }).on('error', reject);
  return promise;
}
