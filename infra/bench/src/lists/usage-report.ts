import { connectPostgres } from '@sluice/testing';
import type pg from 'pg';
import type { Benchmark, BenchmarkContext, Outcome } from '../benchmark.ts';
import { timesInTurns } from '../rounds.ts';
import { fetchJson } from '../stack/api-client.ts';
import { startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { addTenant } from '../stack/tenant.ts';

export const usageReport: Benchmark = {
  id: 'P9',
  work: 'usage report, 10,000,000 tokens in the Tenant',
  goal: 'at most 1.2 × the time with 1,000 tokens',
  peerName: 'the same with 1,000 tokens',
  run: measureUsage,
};

const sizes = { small: 1000, large: 10_000_000 };
const batch = 500_000;

/** Compares single usage reports of a large and a small Tenant, in turns. */
async function measureUsage(context: BenchmarkContext): Promise<Outcome> {
  const { seconds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const stack = await startBenchmarkStack('management-api', context, opened);
  const [small, large] = [await addTenant(stack, signal), await addTenant(stack, signal)];
  const client = opened.use(await connectPostgres(stack.databaseUrl));
  await fillTokens(client, small.tenantId, sizes.small);
  const addIndexes = await dropIndexes(client);
  for (let from = 0; from < sizes.large; from += batch) {
    signal.throwIfAborted();
    await fillTokens(client, large.tenantId, batch);
    log(`  ${(from + batch).toLocaleString('en')} of ${sizes.large.toLocaleString('en')} tokens are there`);
  }
  log('  making the indexes');
  for (const statement of [...addIndexes, 'vacuum (analyze) counters']) {
    signal.throwIfAborted();
    await client.query(statement);
  }

  const report =
    ({ headers }: typeof small, total: number) =>
    async () => {
      const url = `${stack.serviceUrls.managementApi}/tenants/self/reports/usage`;
      const { body, tookMs } = await fetchJson<Usage>({ url, headers, signal });
      const { count } = body.token_report.metrics_by_type.token;
      if (count !== total) throw new Error(`${url} was answered with ${count} tokens`);
      return tookMs;
    };
  const pair = { name: 'report', ours: report(large, sizes.large), peer: report(small, sizes.small) };
  const times = await timesInTurns(context, [pair], 100 * seconds);
  const peerName = `the same with ${sizes.small.toLocaleString('en')} tokens`;
  return {
    comparisons: times.map((each) => ({ unit: 'ms', ...each, peerName, goal: { atMost: 1.2 }, errors: 0 })),
    paths: [],
    notes: [`medians of one request at a time; ours: with ${sizes.large.toLocaleString('en')} tokens`],
  };
}

interface Usage {
  token_report: { metrics_by_type: { token: { count: number } } };
}

/**
 * Drops the indexes, because inserting ten million rows is then five times as fast.
 * @returns the statements that create them again.
 */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ indexname: string; indexdef: string }>(
    "select indexname, indexdef from pg_indexes where tablename = 'tokens' and indexname <> 'tokens_pkey'",
  );
  await client.query('alter table tokens drop constraint tokens_pkey');
  for (const { indexname } of rows) await client.query(`drop index ${indexname}`);
  return ['alter table tokens add primary key (tenant_id, id)', ...rows.map(({ indexdef }) => indexdef)];
}

/** Inserts rows by SQL, and updates the counters in all slots as creation does. */
async function fillTokens(client: pg.Client, tenantId: string, count: number): Promise<void> {
  await client.query(
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
