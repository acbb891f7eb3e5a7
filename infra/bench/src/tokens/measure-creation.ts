import { join } from 'node:path';
import type { BenchmarkContext, Comparison, Outcome } from '../benchmark.ts';
import { createTenant } from '../invocation/tenant.ts';
import { findLoadGenerator } from '../load/find-load-generator.ts';
import { connections, type LoadFigures, type LoadRequest } from '../load/load-generator.ts';
import { secondsOfRound } from '../load/round-seconds.ts';
import { send } from '../management/api-client.ts';
import { startInsertPeer } from '../peers/insert-peer.ts';
import { startBenchmarkStack } from '../start-benchmark-stack.ts';

/** The default pool size of a service. */
const poolSize = 10;
const cardsInOneRequest = 1000;
/** A round's figure is the median of these. */
const bulkRequests = 5;
const requestsInTurn = 200;
const card = { type: 'card', data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2040 } };

/**
 * Cards a second that are created by single requests, compared with the bare INSERT of the same row by a process on the
 * same core. Also the time for each card in a request that creates a thousand, compared with single requests, one after
 * the other and 32 at a time.
 */
export async function measureCreation(context: BenchmarkContext): Promise<Outcome> {
  const { rounds, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const { load, request, peer, headers, tokenVault } = await startCreation(context, opened);
  const bulk = {
    url: `${tokenVault}/tokenize`,
    method: 'POST',
    headers,
    body: JSON.stringify(Array(cardsInOneRequest).fill(card)),
    signal,
  };
  const ours: LoadFigures[] = [];
  const inserts: number[] = [];
  const bulkMs: number[] = [];
  const aloneMs: number[] = [];
  let errors = 0;
  for (let round = 0; round <= rounds; round++) {
    const length = secondsOfRound(round, seconds);
    const figures = await load.run(request, length, signal);
    const rate = await peer.measure(length);
    const together = await inTurn(bulk, bulkRequests, 200);
    const alone = await inTurn({ ...request, body: JSON.stringify(card), method: 'POST', signal }, requestsInTurn, 201);
    errors += together.errors + alone.errors;
    const name = round === 0 ? 'warm-up' : `round ${round}`;
    const each = `${together.medianMs.toFixed(0)} ms for ${cardsInOneRequest} at once, ${alone.medianMs.toFixed(1)} for one`;
    log(`  ${name.padEnd(8)} sluice ${Math.round(figures.requestsPerSecond)}/s, INSERT ${Math.round(rate)}/s, ${each}`);
    if (round === 0) continue;
    ours.push(figures);
    inserts.push(rate);
    bulkMs.push(together.medianMs / cardsInOneRequest);
    aloneMs.push(alone.medianMs);
  }
  errors += ours.reduce((sum, figures) => sum + figures.errors, 0);
  const rates = ours.map(({ requestsPerSecond }) => requestsPerSecond);
  const comparisons: Comparison[] = [
    { unit: 'req/s', ours: rates, peer: inserts, peerName: 'INSERT over pg', goal: { atLeast: 1.5 }, errors },
    {
      unit: 'ms',
      ours: bulkMs,
      peer: aloneMs,
      peerName: 'one card of 1,000 in one request, beside one request each',
      goal: { atMost: 0.1 },
      errors,
    },
    {
      unit: 'ms',
      ours: bulkMs,
      peer: rates.map((rate) => 1000 / rate),
      peerName: 'the same, beside one request each, 32 at a time',
      errors,
    },
  ];
  return {
    comparisons,
    paths: [{ name: 'sluice', rounds: ours }],
    notes: [`load generator: ${load.name}; ${poolSize} connections to Postgres`],
  };
}

/** Starts the vault, prepares a request that creates a card, and starts the peer; they end with `opened`. */
export async function startCreation(context: BenchmarkContext, opened: AsyncDisposableStack) {
  const { directory, cores, signal } = context;
  const load = await findLoadGenerator(context);
  const stack = await startBenchmarkStack('token-vault', context, opened);
  const { tokenVault } = stack.serviceUrls;
  const { apiKey } = await createTenant(stack, signal);
  const headers = { 'SVC-API-KEY': apiKey, 'Content-Type': 'application/json' };
  const request: LoadRequest = { url: `${tokenVault}/tokens`, headers, body: JSON.stringify(card) };
  const first = await send({ ...request, body: JSON.stringify(card), method: 'POST', signal });
  if (first.status !== 201) throw new Error(`POST /tokens was answered with ${first.status}: ${first.body}`);

  const logFile = join(directory, 'insert.log');
  const { id } = JSON.parse(first.body) as { id: string };
  const row = { databaseUrl: stack.databaseUrl, tenantId: stack.credentials.tenant_id, tokenId: id };
  const peer = opened.use(await startInsertPeer({ ...row, poolSize, concurrency: connections, logFile, signal }));
  await cores.moveToTestedCore(peer.pid);
  return { load, request, peer, headers, tokenVault, pid: stack.processes.get('token-vault')?.pid };
}

/** The median time of consecutive requests. */
async function inTurn(request: Parameters<typeof send>[0], count: number, expected: number) {
  const times: number[] = [];
  let errors = 0;
  for (let i = 0; i < count; i++) {
    const { status, tookMs } = await send(request);
    if (status !== expected) errors += 1;
    times.push(tookMs);
  }
  times.sort((a, b) => a - b);
  return { medianMs: times[count >> 1] ?? 0, errors };
}
