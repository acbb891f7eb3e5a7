import type { BenchmarkContext, Outcome } from '../benchmark.ts';
import { createTenant } from '../invocation/tenant.ts';
import { send } from '../management/api-client.ts';
import { type Goal, median } from '../report/statistics.ts';
import { startBenchmarkStack } from '../start-benchmark-stack.ts';

const pageSize = 100;
const latePage = 1000;

interface Page {
  pagination: { next?: string };
  data: unknown[];
}

/**
 * Compares single requests for a late page and for the first one, in turns, so that a slow phase of the machine affects
 * both. Tokens are created through the public interface, and the cursor comes from a walk.
 */
export async function measureCursorPages(context: BenchmarkContext, goal: Goal): Promise<Outcome> {
  const { rounds, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const stack = await startBenchmarkStack('token-vault', context, opened);
  const { apiKey, createTokens } = await createTenant(stack, signal, ['token:create', 'token:read']);
  const tokens = pageSize * (latePage + 1);
  log(`  making ${tokens.toLocaleString('en')} tokens`);
  await createTokens(tokens);

  const read = async (start?: string) => {
    const url = `${stack.serviceUrls.tokenVault}/v2/tokens?size=${pageSize}${start ? `&start=${start}` : ''}`;
    const { status, body, tookMs } = await send({ url, method: 'GET', headers: { 'SVC-API-KEY': apiKey }, signal });
    const page: Page | undefined = status === 200 ? JSON.parse(body) : undefined;
    if (page?.data.length !== pageSize || !page.pagination.next) {
      throw new Error(`${url} was answered with ${status}: ${body.slice(0, 300)}`);
    }
    return { tookMs, next: page.pagination.next };
  };
  let start: string | undefined;
  for (let page = 1; page < latePage; page++) start = (await read(start)).next;

  const ours: number[] = [];
  const peer: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const times = { late: [] as number[], first: [] as number[] };
    for (const deadline = performance.now() + 1000 * seconds; performance.now() < deadline; ) {
      times.late.push((await read(start)).tookMs);
      times.first.push((await read()).tookMs);
    }
    const [late, first] = [median(times.late), median(times.first)];
    log(`  ${round === 0 ? 'warm-up' : `round ${round}`}  ${late.toFixed(2)} ms, ${first.toFixed(2)} ms`);
    if (round === 0) continue;
    ours.push(late);
    peer.push(first);
  }
  return {
    comparisons: [{ unit: 'ms', ours, peer, peerName: 'page 1', goal, errors: 0 }],
    paths: [],
    notes: [
      `medians of one request at a time, of ${tokens.toLocaleString('en')} tokens that are redacted in the answer`,
    ],
  };
}
