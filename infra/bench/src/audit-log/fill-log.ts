import { connectPostgres } from '@sluice/testing';

const batch = 500_000;

/** One hundred ids in turn, so that a filter by one matches a row in a hundred. */
export const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

interface FillOptions {
  signal: AbortSignal;
  /** Called with the number of rows so far. */
  onProgress: (rows: number) => void;
}

/**
 * Fills logs with rows as gateways write them, a second apart, and the ledger's data of each. It bypasses the triggers
 * and creates the indexes last, so that millions of rows take minutes. The leaf hashes are arbitrary, because nothing
 * verifies them here.
 */
export async function fillLogs(
  databaseUrl: string,
  logs: readonly { tenantId: string; rows: number }[],
  { signal, onProgress }: FillOptions,
): Promise<void> {
  await using client = await connectPostgres(databaseUrl);
  await client.query('set session_replication_role = replica');
  const tables = "tablename in ('audit_log', 'audit_log_tokens')";
  const { rows: indexes } = await client.query<{ indexname: string; definition: string }>(
    `select indexname, replace(indexdef, ' ON ONLY ', ' ON ') as definition from pg_indexes where ${tables}`,
  );
  for (const { indexname } of indexes) await client.query(`drop index ${indexname}`);
  for (const { tenantId, rows } of logs) {
    for (const table of ['ledger_leaves', 'ledgers'])
      await client.query(`delete from ${table} where tenant_id = $1`, [tenantId]);
    for (let from = 0; from < rows; from += batch) {
      signal.throwIfAborted();
      await client.query(fill, [tenantId, from, Math.min(from + batch, rows), rows]);
      onProgress(Math.min(from + batch, rows));
    }
    await client.query(ledger, [tenantId, rows]);
    await client.query('delete from audit_log_arrivals where tenant_id = $1', [tenantId]);
  }
  for (const { definition } of indexes) {
    signal.throwIfAborted();
    await client.query(definition);
  }
  await client.query('vacuum (analyze) audit_log, audit_log_tokens, ledger_leaves, ledgers');
  await client.query('checkpoint');
}

/** It has a checkpoint, so that no worker tries to sign it. */
const ledger = `insert into ledgers (tenant_id, size, checkpoint, witnessed_size) values ($1, $2, 'none', $2)`;

/** Oldest first. Rows of the Tenant's creation came before and are not in its ledger. */
const fill = `
  with row as (
    select n, ('00000000-0000-4000-8000-' || lpad((n % 100)::text, 12, '0')) as each, uuidv7() as id,
      now() - ($4 - n) * interval '1 second' as at
    from generate_series($2::integer, $3::integer - 1) as n
  ),
  logs as (
    insert into audit_log (tenant_id, id, at, actor_id, actor_type, operation, entity_type, entity_id, message, trace_id, detail)
    select $1::uuid, id, at, each::uuid, 'application', 'use', 'proxy', each, 'Proxy used', 'trace-' || n,
      jsonb_build_object('token_ids', array['token-' || n % 100], 'destination_host', 'api.example.com',
        'application_id', each, 'method', 'POST', 'places', array['body'])
    from row
  ),
  tokens as (
    insert into audit_log_tokens (tenant_id, token_id, at, log_id) select $1::uuid, 'token-' || n % 100, at, id from row
  )
  insert into ledger_leaves (tenant_id, leaf_index, log_id, at, kept_at, leaf_version, leaf_hash)
  select $1::uuid, n, id, at, at, 1, sha256(n::text::bytea) from row`;
