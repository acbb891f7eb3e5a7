import { connectPostgres } from '@sluice/testing';

/**
 * Fills the Tenant's log with rows as gateways write them, a second apart, and the ledger's data of each. It bypasses
 * the triggers, so that no worker sequences them during the measurement. The leaf hashes are arbitrary, because nothing
 * verifies them here.
 */
export async function fillLog(databaseUrl: string, tenantId: string, rows: number): Promise<void> {
  await using client = await connectPostgres(databaseUrl);
  await client.query('set session_replication_role = replica');
  for (const table of ['ledger_leaves', 'ledgers', 'audit_log_arrivals']) {
    await client.query(`delete from ${table} where tenant_id = $1`, [tenantId]);
  }
  await client.query(fill, [tenantId, rows]);
  await client.query(ledger, [tenantId, rows]);
  await client.query('vacuum (analyze) audit_log, audit_log_tokens, ledger_leaves, ledgers');
}

/** It has a checkpoint, so that no worker tries to sign it. */
const ledger = `insert into ledgers (tenant_id, size, checkpoint, witnessed_size) values ($1, $2, 'none', $2)`;

/** Oldest first. Rows of the Tenant's creation came before and are not in its ledger. */
const fill = `
  with row as (
    select n, ('00000000-0000-4000-8000-' || lpad((n % 100)::text, 12, '0')) as each, uuidv7() as id,
      now() - ($2 - n) * interval '1 second' as at
    from generate_series(0, $2::integer - 1) as n
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
