import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { connectPostgres } from '@sluice/testing';
import type pg from 'pg';
import { type Benchmark, type BenchmarkContext, limited, type Outcome } from '../benchmark.ts';
import { startBenchmarkStack } from '../stack/start-benchmark-stack.ts';

export const sequencing: Benchmark = {
  id: 'P15-LEDGER',
  name: 'audit',
  work: 'rows of the audit log into the ledger',
  goal: '5,000 rows a second; below that 2 s behind at most',
  peerName: 'these limits',
  run: measureSequencing,
};

/** Rows a second that a worker must sequence, on two cores that it shares with Postgres. */
const leastPerSecond = 5000;
/** Rows that arrived while no worker ran. */
const backlog = 200_000;
/** Rows of one statement. */
const statementRows = 1000;
/** Rows a second that arrive while a worker catches up. */
const meanwhilePerSecond = 1000;
/** Seconds that the ledger may lag while fewer rows arrive than it can sequence. */
const mostBehind = 2;

interface Rows {
  insert(tenantId: string): Promise<unknown>;
  /** Seconds that the oldest row has waited. */
  waiting(): Promise<number>;
  client: pg.Client;
  signal: AbortSignal;
}

/**
 * A worker sequences rows inserted by the thousand, as gateways do: a backlog, then a backlog while others arrive, then
 * rows at the required rate, while the age of the oldest waiting row is sampled.
 */
async function measureSequencing(context: BenchmarkContext): Promise<Outcome> {
  const { seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const stack = await startBenchmarkStack('worker', context, opened);
  const client = opened.use(await connectPostgres(stack.databaseUrl));
  const waiting = async () => {
    const { rows } = await client.query<{ behind: number }>(oldest);
    return rows[0]?.behind ?? 0;
  };
  const rows: Rows = { client, signal, waiting, insert: (tenantId) => client.query(rowsOfAStatement, [tenantId]) };
  const perSecond = await sequenceBacklog(rows);
  log(`  a backlog of ${backlog.toLocaleString('en')} rows: ${perSecond.toFixed(0)} rows/s`);
  const caughtUp = await catchUp(rows);
  log(`  the same while ${meanwhilePerSecond} rows/s come: ${caughtUp.toFixed(1)} s until it is 2 s behind`);
  const most = await keepUp(rows, 2 * seconds);
  log(`  ${leastPerSecond} rows/s for ${2 * seconds} s: at most ${most.toFixed(2)} s behind`);
  const limit = backlog / (leastPerSecond - meanwhilePerSecond);
  return {
    comparisons: [
      {
        ...limited('rows/s', [perSecond], { limit: leastPerSecond, name: 'limit of rows a second' }),
        goal: { atLeast: 1 },
      },
      limited('s', [caughtUp], { limit, name: 'limit to catch up with 200,000 rows while 1,000/s come' }),
      limited('s', [most], { limit: mostBehind, name: `limit behind, at ${leastPerSecond} rows a second` }),
    ],
    paths: [],
    notes: ['measured once; the worker has core 0, Postgres core 1'],
  };
}

/** In one transaction, so that sequencing starts only once all are inserted. */
async function addBacklog({ client, insert }: Rows, tenantId: string): Promise<void> {
  await client.query('begin');
  for (let n = 0; n < backlog; n += statementRows) await insert(tenantId);
  await client.query('commit');
}

async function sequenceBacklog(rows: Rows): Promise<number> {
  await addBacklog(rows, randomUUID());
  const startedAt = performance.now();
  while ((await rows.waiting()) > 0) {
    rows.signal.throwIfAborted();
    await delay(50);
  }
  return backlog / ((performance.now() - startedAt) / 1000);
}

async function catchUp(rows: Rows): Promise<number> {
  const tenantId = randomUUID();
  await addBacklog(rows, tenantId);
  const startedAt = performance.now();
  for (let statement = 1; (await rows.waiting()) > mostBehind; ) {
    rows.signal.throwIfAborted();
    if (performance.now() - startedAt > (statement * statementRows * 1000) / meanwhilePerSecond) {
      await rows.insert(tenantId);
      statement += 1;
    }
    await delay(50);
  }
  return (performance.now() - startedAt) / 1000;
}

/** @returns the longest that a row has waited, in seconds. */
async function keepUp({ insert, waiting, signal }: Rows, seconds: number): Promise<number> {
  const behind: number[] = [];
  const tenants = Array.from({ length: 10 }, () => randomUUID());
  const from = performance.now();
  for (let statement = 0; statement < (leastPerSecond / statementRows) * seconds; statement++) {
    signal.throwIfAborted();
    await delay(Math.max(0, from + (statement * statementRows * 1000) / leastPerSecond - performance.now()));
    await insert(tenants[statement % tenants.length] ?? '');
    behind.push(await waiting());
  }
  return Math.max(...behind);
}

const oldest = `
  select coalesce(extract(epoch from clock_timestamp() - min(arrived_at)), 0)::float8 as behind from audit_log_arrivals`;

const rowsOfAStatement = `
  insert into audit_log (tenant_id, actor_id, actor_type, operation, entity_type, entity_id, message, trace_id, detail)
  select $1::uuid, gen_random_uuid(), 'application', 'use', 'proxy', gen_random_uuid()::text, 'Proxy used', 'trace-' || n,
    jsonb_build_object('token_ids', array[gen_random_uuid(), gen_random_uuid()], 'destination_host', 'api.example.com',
      'application_id', gen_random_uuid(), 'method', 'POST', 'places', array['body'])
  from generate_series(1, ${statementRows}) as n`;
