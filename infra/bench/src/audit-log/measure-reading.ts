import type { Comparison } from '../benchmark.ts';
import { send } from '../management/api-client.ts';
import { median } from '../report/statistics.ts';
import { idOf } from './fill-log.ts';

const filters: Record<string, string> = {
  'no filter': '',
  entity_id: `entity_id=${idOf(3)}`,
  actor_id: `actor_id=${idOf(3)}`,
  entity_type: 'entity_type=proxy',
  operation: 'operation=use',
  token_id: 'token_id=token-3',
  trace_id: 'trace_id=trace-13',
  start_date: 'start_date=2000-01-01T00:00:00Z',
  'dates of a minute': '', // filled in when it is measured
};

export interface ReadingOptions {
  managementApi: string;
  small: { headers: Record<string, string> };
  large: { headers: Record<string, string> };
  rounds: number;
  /** Requests of each kind in a round. */
  requests: number;
  log: (line: string) => void;
  signal: AbortSignal;
}

/** For each filter: a page by cursor, and the first page with its totals, of both Tenants in turns. */
export async function measureReading(options: ReadingOptions): Promise<Comparison[]> {
  const { managementApi, small, large, rounds, requests, log, signal } = options;
  const read = async (query: string, { headers }: typeof small) => {
    const url = `${managementApi}/logs?${query}`;
    const { status, body, tookMs } = await send({ url, method: 'GET', headers, signal });
    if (status !== 200) throw new Error(`${url} was answered with ${status}: ${body}`);
    return { tookMs, page: JSON.parse(body) as { pagination: { next?: string }; data: { created_at: string }[] } };
  };
  const [newest] = (await read('size=1', large)).page.data;
  const minute = (ago: number) => new Date(Date.parse(newest?.created_at ?? '') - ago * 60_000).toISOString();
  const named = { ...filters, 'dates of a minute': `start_date=${minute(6)}&end_date=${minute(5)}` };
  const comparisons: Comparison[] = [];
  for (const [name, filter] of Object.entries(named)) {
    const cursorOf = async (tenant: typeof small) => {
      const { page } = await read(`${filter}&size=5`, tenant);
      return page.pagination.next;
    };
    const [inSmall, inLarge] = [await cursorOf(small), await cursorOf(large)];
    const kinds = {
      'with totals': [`${filter}&size=20`, `${filter}&size=20`],
      ...(inSmall && inLarge && { 'with start': [inSmall, inLarge].map((next) => `${filter}&size=20&start=${next}`) }),
    };
    for (const [kind, [ofSmall = '', ofLarge = '']] of Object.entries(kinds)) {
      const figures = { ours: [] as number[], peer: [] as number[] };
      for (let round = 0; round <= rounds; round++) {
        const times = { large: [] as number[], small: [] as number[] };
        for (let i = 0; i < requests; i++) {
          times.large.push((await read(ofLarge, large)).tookMs);
          times.small.push((await read(ofSmall, small)).tookMs);
        }
        if (round === 0) continue;
        figures.ours.push(median(times.large));
        figures.peer.push(median(times.small));
      }
      log(
        `  ${name.padEnd(18)} ${kind.padEnd(12)} ${median(figures.ours).toFixed(2)} ms, ${median(figures.peer).toFixed(2)} ms`,
      );
      const peerName = `${name}, ${kind}, 1,000 rows`;
      if (kind === 'with start') comparisons.push({ unit: 'ms', ...figures, peerName, goal: { atMost: 2 }, errors: 0 });
      else comparisons.push({ unit: 'ms', ...figures, peerName, errors: 0 }, moreThan(figures, name));
    }
  }
  return comparisons;
}

/** By how much the totals of a large log may make a page slower, in ms. */
const mostOfTotals = 20;

function moreThan({ ours, peer }: { ours: number[]; peer: number[] }, name: string): Comparison {
  return {
    unit: 'ms',
    ours: ours.map((ms, round) => Math.max(0, ms - (peer[round] ?? Number.NaN))),
    peer: ours.map(() => mostOfTotals),
    peerName: `${name}: limit of what totals add`,
    goal: { atMost: 1 },
    errors: 0,
  };
}
