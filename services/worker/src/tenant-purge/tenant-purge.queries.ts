import type { Database, Queryable, Tables } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 1000;

/**
 * How each table's rows are deleted when their Tenant is purged. A new table does not compile without an entry here,
 * because otherwise its rows would outlive their Tenant. A list of columns means: in batches by this key, which follows
 * `tenant_id`.
 */
const purge = {
  tokens: 'by the vault',
  idempotency_records: ['application_id', 'request_hash'],
  proxies: ['id'],
  proxy_versions: 'with its Proxy',
  reactors: ['id'],
  reactor_formulas: ['id'],
  reactor_runs: ['id'],
  applications: ['id'],
  application_keys: 'with its Application',
  key_uses: 'with its key',
  sessions: 'with its Application',
  members: 'with its Tenant',
  former_members: 'with its Tenant',
  former_names: ['kind', 'id', 'until'],
  invitations: ['id'],
  sign_ins: 'with its member or key',
  sign_in_links: 'with its member',
  pending_sign_ins: 'of no Tenant',
  users: 'with the last Tenant of theirs',
  identities: 'with its user',
  data_keys: ['purpose', 'version'],
  counters: ['counter', 'slot'],
  due_tokens: ['kind', 'due_at'],
  invocation_counts: ['step', 'start', 'kind', 'id'],
  tenants: 'last',
  audit_log: 'kept',
  audit_log_tokens: 'kept',
  audit_log_arrivals: 'kept',
  ledgers: 'kept',
  ledger_leaves: 'kept',
  ledger_nodes: 'kept',
  changes: 'when it is confirmed',
  cache_leases: 'of no Tenant',
} as const satisfies Record<keyof Tables, string | readonly [string, ...string[]]>;

type PurgedTable = {
  [Table in keyof typeof purge]: (typeof purge)[Table] extends string ? never : Table;
}[keyof Tables];

export const purgedTables = (Object.keys(purge) as (keyof Tables)[]).filter(
  (table): table is PurgedTable => typeof purge[table] !== 'string',
);

/** With an `id` only that Tenant. */
export async function listClosedTenants(db: Queryable, id?: string): Promise<string[]> {
  const rows = await db
    .selectFrom('tenants')
    .select('id')
    .where('closed_at', 'is not', null)
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .orderBy('closed_at')
    .execute();
  return rows.map((row) => row.id);
}

/**
 * Deletes one batch. Without `order by` Postgres would scan the whole table once few rows are left. @returns how many.
 */
export async function purgeRows(db: Database, table: PurgedTable, tenantId: string): Promise<number> {
  const key = sql.join(purge[table].map((column) => sql.ref(column)));
  const result = await sql`
    delete from ${sql.table(table)} where tenant_id = ${tenantId} and (${key}) in (
      select ${key} from ${sql.table(table)} where tenant_id = ${tenantId}
      order by ${key} limit ${sql.lit(batchSize)})
  `.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

/** Returns false if rows are left. Uncommitted deletions, and requests from before the closing, count as rows. */
export async function deleteTenantRow(db: Database, id: string): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    // Creators of tokens lock this row, so that their inserts are visible below
    const tenant = tx.selectFrom('tenants').select('id').where('id', '=', id).where('closed_at', 'is not', null);
    if (!(await tenant.forUpdate().executeTakeFirst())) return false;
    for (const table of ['tokens', ...purgedTables] as const) {
      if (await tx.selectFrom(table).select('tenant_id').where('tenant_id', '=', id).limit(1).executeTakeFirst()) {
        return false;
      }
    }
    const users = await tx
      .selectFrom('members')
      .select('user_id')
      .where('tenant_id', '=', id)
      .union(tx.selectFrom('former_members').select('user_id').where('tenant_id', '=', id))
      .execute();
    await tx.deleteFrom('tenants').where('id', '=', id).execute();
    await deleteUsersOfNoTenant(
      tx,
      users.map(({ user_id }) => user_id),
    );
    const closed_at = sql<string>`statement_timestamp()`; // no worker's clock, because retention deletes by it
    await tx.updateTable('ledgers').set({ closed_at }).where('tenant_id', '=', id).execute();
    return true;
  });
}

/**
 * Other Tenants may have them as members too. Accepting an invitation locks its user, so this waits and then finds the
 * member.
 */
async function deleteUsersOfNoTenant(tx: Queryable, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`select from users where id = any(${[...ids]}::uuid[]) order by id for update`.execute(tx);
  await sql`
    delete from users where id = any(${[...ids]}::uuid[])
      and not exists (select from members where user_id = users.id)
      and not exists (select from former_members where user_id = users.id)
      and not exists (select from invitations where user_id = users.id)
  `.execute(tx);
}
