import pg from 'pg';
import type { BenchmarkContext, Outcome } from '../benchmark.ts';
import { createListTenant } from '../lists/list-tenant.ts';
import { send } from '../management/api-client.ts';
import { median } from '../report/statistics.ts';
import { startBenchmarkStack } from '../start-benchmark-stack.ts';

const sizes = { small: 1000, large: 10_000_000 };
const batch = 500_000;

/** Compares single usage reports of a large and a small Tenant, in turns. */
export async function measureUsage(context: BenchmarkContext): Promise<Outcome> {
  const { directory, rounds, seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const stack = await startBenchmarkStack('management-api', context, opened);
  const newTenant = () => createListTenant(stack, `${directory}/stack`, signal);
  const [small, large] = [await newTenant(), await newTenant()];
  await fillTokens(stack.databaseUrl, small.tenantId, sizes.small);
  const addIndexes = await dropIndexes(stack.databaseUrl);
  for (let from = 0; from < sizes.large; from += batch) {
    signal.throwIfAborted();
    await fillTokens(stack.databaseUrl, large.tenantId, batch);
    log(`  ${(from + batch).toLocaleString('en')} of ${sizes.large.toLocaleString('en')} tokens are there`);
  }
  log('  making the indexes');
  for (const statement of addIndexes) {
    signal.throwIfAborted();
    await runSql(stack.databaseUrl, statement);
  }
  await runSql(stack.databaseUrl, 'vacuum (analyze) counters');

  const report = async ({ headers }: { headers: Record<string, string> }, total: number) => {
    const url = `${stack.serviceUrls.managementApi}/tenants/self/reports/usage`;
    const { status, body, tookMs } = await send({ url, method: 'GET', headers, signal });
    const { count } = JSON.parse(body).token_report.metrics_by_type.token;
    if (status !== 200 || count !== total) throw new Error(`${url} was answered with ${status}: ${body}`);
    return tookMs;
  };
  const [ours, peer]: number[][] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    const times = { small: [] as number[], large: [] as number[] };
    for (const deadline = performance.now() + 1000 * seconds; performance.now() < deadline; ) {
      times.large.push(await report(large, sizes.large));
      times.small.push(await report(small, sizes.small));
    }
    const [inLarge, inSmall] = [median(times.large), median(times.small)];
    log(`  ${round === 0 ? 'warm-up' : `round ${round}`}  ${inLarge.toFixed(2)} ms, ${inSmall.toFixed(2)} ms`);
    if (round === 0) continue;
    ours?.push(inLarge);
    peer?.push(inSmall);
  }
  const peerName = `the same with ${sizes.small.toLocaleString('en')} tokens`;
  return {
    comparisons: [{ unit: 'ms', ours: ours ?? [], peer: peer ?? [], peerName, goal: { atMost: 1.2 }, errors: 0 }],
    paths: [],
    notes: [`medians of one request at a time; ours: with ${sizes.large.toLocaleString('en')} tokens`],
  };
}

/**
 * Drops the indexes, because inserting ten million rows is then five times as fast.
 * @returns the statements that create them again.
 */
async function dropIndexes(databaseUrl: string): Promise<string[]> {
  const others = await runSql<{ indexname: string; indexdef: string }>(
    databaseUrl,
    "select indexname, indexdef from pg_indexes where tablename = 'tokens' and indexname <> 'tokens_pkey'",
  );
  await runSql(databaseUrl, 'alter table tokens drop constraint tokens_pkey');
  for (const { indexname } of others) await runSql(databaseUrl, `drop index ${indexname}`);
  return ['alter table tokens add primary key (tenant_id, id)', ...others.map(({ indexdef }) => indexdef)];
}

/** Inserts rows by SQL, and updates the counters in all slots as creation does. */
async function fillTokens(databaseUrl: string, tenantId: string, count: number): Promise<void> {
  await runSql(
    databaseUrl,
    `with inserted as (
      insert into tokens (tenant_id, id, type, data_ciphertext, containers, active_month)
      select $1, gen_random_uuid(), 'token', 'data', '{/general/high/}', date_trunc('month', now() at time zone 'utc')
      from generate_series(1, $2::integer) returning active_month
    )
    insert into counters (tenant_id, counter, slot, value, last_at)
    select $1, counter, slot, $2::integer / 8, now()
    from generate_series(0, 7) slot,
      (select 'tokens:token' as counter union all select 'active_tokens:' || max(active_month) from inserted) each
    on conflict (tenant_id, counter, slot) do update set value = counters.value + excluded.value`,
    [tenantId, count],
  );
}

async function runSql<Row extends object>(databaseUrl: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Row>(text, values);
    return rows;
  } finally {
    await client.end();
  }
}
