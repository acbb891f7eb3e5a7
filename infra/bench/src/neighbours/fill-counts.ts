import { connectPostgres } from '@sluice/testing';

/**
 * Fills the Tenant's counts as gateways write them: 30 days in steps of six hours, each with every series that may have a row of
 * its own, and in every row 60 buckets of durations and four error codes.
 */
export async function fillCounts(databaseUrl: string, tenantId: string): Promise<void> {
  await using client = await connectPostgres(databaseUrl);
  await client.query(fill, [tenantId]);
  await client.query('vacuum (analyze) invocation_counts');
}

const fill = `
  with series as (
    select 'tenant' as kind, $1::uuid as id
    union all select 'proxy', ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid from generate_series(1, 200) as n
  ),
  counts as (
    select jsonb_object_agg(bucket, 1000 + bucket) as durations from generate_series(40, 99) as bucket
  )
  insert into invocation_counts (tenant_id, step, start, kind, id, requests, destination_errors, errors, durations)
  select $1::uuid, 21600, date_bin('6 hours', now(), 'epoch') - n * interval '6 hours', kind, id, 64170, 12,
    '{"forbidden": 3, "destination_timeout": 20, "caller_gone": 9, "transform_failed": 1}', durations
  from series, counts, generate_series(0, 119) as n
  on conflict do nothing`;
