import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Comparison } from '../benchmark.ts';

/** Rows a second that a worker must sequence, on two cores that it shares with Postgres. */
const leastPerSecond = 5000;
/** Rows that arrived while no worker ran. */
const backlog = 200_000;
/** Seconds that the ledger may lag while fewer rows arrive than it can sequence. */
const mostBehind = 2;

export interface SequencingOptions {
  databaseUrl: string;
  seconds: number;
  log: (line: string) => void;
  signal: AbortSignal;
}

/**
 * A worker first catches up with rows inserted by the thousand, as gateways do. Then rows arrive at the required rate,
 * and the age of the oldest waiting row is sampled.
 */
export async function measureSequencing({
  databaseUrl,
  seconds,
  log,
  signal,
}: SequencingOptions): Promise<Comparison[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const insert = (tenantId: string) => client.query(rowsOfAStatement, [tenantId]);
    const waiting = async () => {
      const { rows } = await client.query<{ behind: number }>(
        'select coalesce(extract(epoch from clock_timestamp() - min(arrived_at)), 0)::float8 as behind from audit_log_arrivals',
      );
      return rows[0]?.behind ?? 0;
    };
    const tenantId = randomUUID();
    await client.query('begin'); // so that sequencing starts only once all are inserted
    for (let n = 0; n < backlog; n += 1000) await insert(tenantId);
    await client.query('commit');
    const startedAt = performance.now();
    while ((await waiting()) > 0) {
      signal.throwIfAborted();
      await delay(50);
    }
    const perSecond = backlog / ((performance.now() - startedAt) / 1000);
    log(`  a backlog of ${backlog.toLocaleString('en')} rows: ${perSecond.toFixed(0)} rows/s`);

    const behind: number[] = [];
    const tenants = Array.from({ length: 10 }, () => randomUUID());
    const from = performance.now();
    for (let statement = 0; statement < (leastPerSecond / 1000) * seconds; statement++) {
      signal.throwIfAborted();
      await delay(Math.max(0, from + (statement * 1_000_000) / leastPerSecond - performance.now()));
      await insert(tenants[statement % tenants.length] ?? '');
      behind.push(await waiting());
    }
    const most = Math.max(...behind);
    log(`  ${leastPerSecond} rows/s for ${seconds} s: at most ${most.toFixed(2)} s behind`);
    return [
      {
        unit: 'rows/s',
        ours: [perSecond],
        peer: [leastPerSecond],
        peerName: 'limit of rows a second into the ledger',
        goal: { atLeast: 1 },
        errors: 0,
      },
      {
        unit: 's',
        ours: [most],
        peer: [mostBehind],
        peerName: `limit behind, at ${leastPerSecond} rows a second`,
        goal: { atMost: 1 },
        errors: 0,
      },
    ];
  } finally {
    await client.end();
  }
}

const rowsOfAStatement = `
  insert into audit_log (tenant_id, actor_id, actor_type, operation, entity_type, entity_id, message, trace_id, detail)
  select $1::uuid, gen_random_uuid(), 'application', 'use', 'proxy', gen_random_uuid()::text, 'Proxy used', 'trace-' || n,
    jsonb_build_object('token_ids', array[gen_random_uuid(), gen_random_uuid()], 'destination_host', 'api.example.com',
      'application_id', gen_random_uuid(), 'method', 'POST', 'places', array['body'])
  from generate_series(1, 1000) as n`;
