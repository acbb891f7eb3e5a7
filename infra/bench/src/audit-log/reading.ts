import { type Benchmark, type BenchmarkContext, type Comparison, limited, type Outcome } from '../benchmark.ts';
import { type TimedPair, timesInTurns } from '../rounds.ts';
import { fetchJson } from '../stack/api-client.ts';
import { idOf } from './fill-log.ts';
import { type LogTenant, startLogStack } from './large-log.ts';

export const logReading: Benchmark = {
  id: 'P15',
  name: 'audit',
  work: 'GET /logs by each filter',
  goal: 'with `start` at most 2 × the time with 1,000 rows; with totals at most 20 ms more',
  peerName: 'the same with 1,000 rows',
  run: measureReading,
};

/** By how much the totals of a large log may make a page slower, in ms. */
const mostOfTotals = 20;

interface Page {
  pagination: { next?: string };
  data: { created_at: string }[];
}

/** For each filter: a page by cursor, and the first page with its totals, of both Tenants in turns. */
async function measureReading(context: BenchmarkContext): Promise<Outcome> {
  const { seconds, logRows, signal } = context;
  await using opened = new AsyncDisposableStack();
  const { stack, small, large } = await startLogStack(context, opened);
  const read = async (query: string, { headers }: LogTenant) => {
    const url = `${stack.serviceUrls.managementApi}/logs?${query}`;
    const { body, tookMs } = await fetchJson<Page>({ url, headers, signal });
    return { tookMs, page: body };
  };
  const timeOf = (query: string, tenant: LogTenant) => async () => (await read(query, tenant)).tookMs;
  const [newest] = (await read('size=1', large)).page.data;
  const minute = (ago: number) => new Date(Date.parse(newest?.created_at ?? '') - ago * 60_000).toISOString();
  const filters: Record<string, string> = {
    'no filter': '',
    entity_id: `entity_id=${idOf(3)}`,
    actor_id: `actor_id=${idOf(3)}`,
    entity_type: 'entity_type=proxy',
    operation: 'operation=use',
    token_id: 'token_id=token-3',
    trace_id: 'trace_id=trace-13',
    start_date: 'start_date=2000-01-01T00:00:00Z',
    'dates of a minute': `start_date=${minute(6)}&end_date=${minute(5)}`,
  };
  const [withTotals, withStart]: [TimedPair[], TimedPair[]] = [[], []];
  for (const [name, filter] of Object.entries(filters)) {
    const pairOf = (kind: string, query: (tenant: LogTenant) => string) => {
      return { name: `${name}, ${kind}`, ours: timeOf(query(large), large), peer: timeOf(query(small), small) };
    };
    withTotals.push(pairOf('with totals', () => `${filter}&size=20`));
    const next = new Map<unknown, string | undefined>();
    for (const tenant of [small, large]) {
      next.set(tenant, (await read(`${filter}&size=5`, tenant)).page.pagination.next);
    }
    if ([...next.values()].some((cursor) => cursor === undefined)) continue; // both fit on one page
    withStart.push(pairOf('with start', (tenant) => `${filter}&size=20&start=${next.get(tenant)}`));
  }
  const requests = 10 * seconds;
  const totals = await timesInTurns(context, withTotals, requests);
  const cursors = await timesInTurns(context, withStart, requests);
  return {
    comparisons: [
      ...totals.flatMap(({ name, ours, peer }): Comparison[] => {
        const added = ours.map((ms, round) => Math.max(0, ms - (peer[round] ?? Number.NaN)));
        const limit = { limit: mostOfTotals, name: `${name}: limit of what they add` };
        return [{ unit: 'ms', ours, peer, peerName: `${name}, 1,000 rows`, errors: 0 }, limited('ms', added, limit)];
      }),
      ...cursors.map(({ name, ours, peer }): Comparison => {
        return { unit: 'ms', ours, peer, peerName: `${name}, 1,000 rows`, goal: { atMost: 2 }, errors: 0 };
      }),
    ],
    paths: [],
    notes: [`medians of one request at a time; ours: with ${logRows.toLocaleString('en')} rows`],
  };
}
