import type { Benchmark, BenchmarkContext, Outcome } from '../benchmark.ts';
import { timesInTurns } from '../rounds.ts';
import { fetchJson } from '../stack/api-client.ts';
import { startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { openTenant } from '../stack/tenant.ts';

export const cursorPages: Benchmark = {
  id: 'CURSORS',
  work: 'page 1,000 of GET /v2/tokens by cursor, 100 tokens a page',
  goal: 'at most 1.5 × the time of page 1',
  peerName: 'page 1',
  run: measureCursorPages,
};

const pageSize = 100;
const latePage = 1000;

interface Page {
  pagination: { next?: string };
  data: unknown[];
}

/**
 * Compares single requests for a late page and for the first one. Tokens are created through the public interface, and
 * the cursor comes from a walk.
 */
async function measureCursorPages(context: BenchmarkContext): Promise<Outcome> {
  const { seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const stack = await startBenchmarkStack('token-vault', context, opened);
  const { apiKey, createTokens } = await openTenant(stack, signal, { permissions: ['token:create', 'token:read'] });
  const tokens = pageSize * (latePage + 1);
  log(`  making ${tokens.toLocaleString('en')} tokens`);
  await createTokens(tokens);

  const read = async (start?: string) => {
    const url = `${stack.serviceUrls.tokenVault}/v2/tokens?size=${pageSize}${start ? `&start=${start}` : ''}`;
    const { body, tookMs } = await fetchJson<Page>({ url, headers: { 'SVC-API-KEY': apiKey }, signal });
    const { next } = body.pagination;
    if (body.data.length !== pageSize || !next) throw new Error(`${url} was answered with ${body.data.length} tokens`);
    return { tookMs, next };
  };
  let late: string | undefined;
  for (let page = 1; page < latePage; page++) late = (await read(late)).next;
  const timeOf = (start?: string) => async () => (await read(start)).tookMs;
  const pair = { name: `page ${latePage}, page 1`, ours: timeOf(late), peer: timeOf() };
  const times = await timesInTurns(context, [pair], 40 * seconds);
  const which = `of ${tokens.toLocaleString('en')} tokens that are redacted in the answer`;
  return {
    comparisons: times.map((each) => ({ unit: 'ms', ...each, peerName: 'page 1', goal: { atMost: 1.5 }, errors: 0 })),
    paths: [],
    notes: [`medians of one request at a time, ${which}`],
  };
}
