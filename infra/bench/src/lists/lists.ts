import type { Benchmark, BenchmarkContext, Comparison, Outcome } from '../benchmark.ts';
import { timesInTurns } from '../rounds.ts';
import { fetchJson } from '../stack/api-client.ts';
import { type BenchmarkStack, startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { addTenant } from '../stack/tenant.ts';
import { fillTenants, namePart } from './fill-tenant.ts';

export const lists: Benchmark = {
  id: 'P8',
  work: 'first page of a list with its total, 1,000,000 rows in the Tenant',
  goal: 'at most 1.2 × the time with 1,000 rows',
  peerName: 'the same with 1,000 rows',
  run: measureLists,
};

const sizes = { small: 1000, large: 1_000_000 };
/** Proxies whose names contain {@link namePart}, in any case, and the Applications that they belong to. */
const named = 50;

type ListTenant = Awaited<ReturnType<typeof createListTenant>>;

interface List {
  name: string;
  path: (tenant: ListTenant) => string;
  /** The number of items on all pages. */
  total: (size: number) => number;
}

const kinds: List[] = [
  { name: 'applications', path: () => '/applications', total: (size) => size },
  { name: 'applications by id', path: ({ applicationId }) => `/applications?id=${applicationId}`, total: () => 1 },
  { name: 'proxies', path: () => '/proxies', total: (size) => size },
  { name: 'proxies by id', path: ({ proxyId }) => `/proxies?id=${proxyId}`, total: () => 1 },
  { name: 'proxies by name', path: () => `/proxies?name=*${namePart}*`, total: () => named },
];

/** Compares single requests for the first page of each list in a large and in a small Tenant. */
async function measureLists(context: BenchmarkContext): Promise<Outcome> {
  const { seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const stack = await startBenchmarkStack('management-api', context, opened);
  const small = await createListTenant(stack, sizes.small, signal);
  const large = await createListTenant(stack, sizes.large, signal);
  log(`Filling one Tenant with ${sizes.small} rows of each kind and one with ${sizes.large}`);
  await fillTenants(stack.databaseUrl, [small, large]);

  const read =
    ({ path, total }: List, tenant: ListTenant) =>
    async () => {
      const url = stack.serviceUrls.managementApi + path(tenant);
      const { body, tookMs } = await fetchJson<Page>({ url, headers: tenant.headers, signal });
      const { total_items } = body.pagination;
      if (total_items !== total(tenant.size)) throw new Error(`${url} was answered with ${total_items} items`);
      return tookMs;
    };
  const pairs = kinds.map((list) => ({ name: list.name, ours: read(list, large), peer: read(list, small) }));
  const times = await timesInTurns(context, pairs, 50 * seconds);
  return {
    comparisons: times.map((each): Comparison => {
      const peerName = `${each.name}, ${sizes.small.toLocaleString('en')} rows`;
      return { unit: 'ms', ...each, peerName, goal: { atMost: 1.2 }, errors: 0 };
    }),
    paths: [],
    notes: [`medians of one request at a time; ours: with ${sizes.large.toLocaleString('en')} rows`],
  };
}

interface Page {
  pagination: { total_items: number };
}

/** A Tenant whose lists are measured; what they show is created through the public interface. */
async function createListTenant(stack: BenchmarkStack, size: number, signal: AbortSignal) {
  const tenant = await addTenant(stack, signal);
  const headers = { ...tenant.headers, 'Content-Type': 'application/json' };
  const create = async (path: string, body: object): Promise<string> => {
    const url = stack.serviceUrls.managementApi + path;
    return (await fetchJson<{ id: string }>({ url, headers, body: JSON.stringify(body), signal })).body.id;
  };
  let [applicationId, proxyId] = ['', ''];
  for (let n = 0; n < named; n++) {
    applicationId = await create('/applications', { name: 'Checkout', type: 'private', permissions: ['token:use'] });
    proxyId = await create('/proxies', {
      name: `Orders of merchant M${n}${namePart}X`,
      destination_url: 'https://example.com/orders',
      configuration: { region: 'eu', merchant: `M${n}` },
      application: { id: applicationId },
    });
  }
  return { ...tenant, applicationId, proxyId, size, counts: { applications: named + 1, proxies: named } };
}
