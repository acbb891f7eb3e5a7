import {
  type Benchmark,
  type BenchmarkContext,
  compareRates,
  errorsOf,
  type Outcome,
  type PathFigures,
} from '../benchmark.ts';
import { measureMainThreads } from '../cpu/measure-main-threads.ts';
import { findLoadGenerator } from '../load/wrk.ts';
import { poolSize, startPgPeer } from '../peers/pg-peer.ts';
import { percentile } from '../report/statistics.ts';
import { loadInTurns } from '../rounds.ts';
import { fetchJson, send } from '../stack/api-client.ts';
import { startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { createTenant } from '../stack/tenant.ts';

export const tokenCreation: Benchmark = {
  id: 'P6',
  work: 'POST /tokens of a card, 32 at a time',
  goal: 'at least 1.5 × a bare parameterised INSERT of the same row over pg; a tenth for each card of 1,000 at once of one request each',
  peerName: 'INSERT over pg',
  run: measureRates,
};

export const keyedCreation: Benchmark = {
  id: 'P6-KEY',
  work: 'P6, each request with an idempotency key of its own',
  goal: 'at least 0.7 × P6 in the same rounds',
  peerName: 'POST /tokens without a key',
  async run(context) {
    await using opened = new AsyncDisposableStack();
    const { load, ours, keyed } = await start(context, opened);
    const [withKey, without] = (await loadInTurns(context, [keyed, ours])) as [PathFigures, PathFigures];
    const compared = compareRates(withKey, { ...without, name: keyedCreation.peerName }, { atLeast: 0.7 });
    return { comparisons: [compared], paths: [withKey], notes: [`load generator: ${load.name}`] };
  },
};

export const keyedCreationCpu: Benchmark = {
  id: 'P6-KEY-CPU',
  name: 'cpu',
  work: 'processor time of the main thread, POST /tokens with an idempotency key',
  goal: 'no goal',
  peerName: 'INSERT over pg',
  async run(context) {
    await using opened = new AsyncDisposableStack();
    const { keyed, peer } = await start(context, opened);
    return await measureMainThreads(context, [keyed, peer]);
  },
};

export const tokenCreationCpu: Benchmark = {
  id: 'P6-CPU',
  name: 'cpu',
  work: 'processor time of the main thread, POST /tokens',
  goal: 'no goal',
  peerName: 'INSERT over pg',
  async run(context) {
    await using opened = new AsyncDisposableStack();
    const { ours, peer } = await start(context, opened);
    return await measureMainThreads(context, [ours, peer]);
  },
};

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
async function measureRates(context: BenchmarkContext): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const { load, ours, peer, oneByOne } = await start(context, opened);
  const turns = [
    ours,
    peer,
    {
      name: `${cardsInOneRequest} at once`,
      measure: () => oneByOne('/tokenize', Array(cardsInOneRequest).fill(card), bulkRequests),
    },
    { name: 'one by one', measure: () => oneByOne('/tokens', card, requestsInTurn) },
  ];
  const [sluice, inserts, bulk, alone] = (await loadInTurns(context, turns)) as [
    PathFigures,
    PathFigures,
    PathFigures,
    PathFigures,
  ];
  const bulkMs = bulk.rounds.map(({ p50Ms }) => p50Ms / cardsInOneRequest);
  const aloneMs = alone.rounds.map(({ p50Ms }) => p50Ms);
  const besideMs = sluice.rounds.map(({ requestsPerSecond }) => 1000 / requestsPerSecond);
  const [name, other] = [
    'one card of 1,000 in one request, beside one request each',
    'the same, beside one request each',
  ];
  const errors = errorsOf(sluice, bulk, alone);
  return {
    comparisons: [
      { ...compareRates(sluice, inserts, { atLeast: 1.5 }), errors },
      { unit: 'ms', ours: bulkMs, peer: aloneMs, peerName: name, goal: { atMost: 0.1 }, errors },
      { unit: 'ms', ours: bulkMs, peer: besideMs, peerName: `${other}, 32 at a time`, errors },
    ],
    paths: [sluice],
    notes: [`load generator: ${load.name}; ${poolSize} connections to Postgres`],
  };
}

/** Starts the vault, prepares a request that creates a card, and starts the peer; they end with `opened`. */
async function start(context: BenchmarkContext, opened: AsyncDisposableStack) {
  const { signal } = context;
  const load = await findLoadGenerator(context);
  const stack = await startBenchmarkStack('token-vault', context, opened);
  const { apiKey } = await createTenant(stack, signal);
  const headers = { 'SVC-API-KEY': apiKey, 'Content-Type': 'application/json' };
  const requestTo = (path: string, body: object) => {
    return { url: stack.serviceUrls.tokenVault + path, headers, body: JSON.stringify(body) };
  };
  const request = requestTo('/tokens', card);
  const { body: token } = await fetchJson<{ id: string }>({ ...request, signal });
  const peer = await startPgPeer(context, stack, { name: 'INSERT over pg', tokenId: token.id }, opened);

  /** Requests one after the other. */
  async function oneByOne(path: string, body: object, count: number) {
    const times: number[] = [];
    let errors = 0;
    for (let n = 0; n < count; n++) {
      const { status, tookMs } = await send({ ...requestTo(path, body), signal });
      if (status > 299) errors += 1;
      times.push(tookMs);
    }
    const requestsPerSecond = (1000 * count) / times.reduce((sum, ms) => sum + ms, 0);
    return { requestsPerSecond, p50Ms: percentile(times, 50), p99Ms: percentile(times, 99), errors };
  }
  const measure = (seconds: number) => load.run(request, seconds, signal);
  const ours = { name: 'sluice', pid: stack.pid, measure };
  const keyedRequest = { ...request, uniqueHeader: 'SVC-IDEMPOTENCY-KEY' };
  const keyed = { ...ours, measure: (seconds: number) => load.run(keyedRequest, seconds, signal) };
  return { load, ours, keyed, peer, oneByOne };
}
