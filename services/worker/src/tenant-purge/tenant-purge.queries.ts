import type { Database, Queryable } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 1000;

/** Besides tokens and audit rows. Keys and sessions are deleted with their Applications. */
export const purgedTables = [
  'idempotency_records',
  'proxies',
  'applications',
  'data_keys',
  'counters',
  'due_tokens',
] as const;

type PurgedTable = (typeof purgedTables)[number];

/** Columns after `tenant_id`. */
const restOfKey: Record<PurgedTable, readonly string[]> = {
  idempotency_records: ['application_id', 'request_hash'],
  proxies: ['id'],
  applications: ['id'],
  data_keys: ['purpose', 'version'],
  counters: ['counter', 'slot'],
  due_tokens: ['kind', 'due_at'],
};

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

/** One batch. Without `order by` Postgres would scan the whole table once few rows are left. @returns how many. */
export async function purgeRows(db: Database, table: PurgedTable, tenantId: string): Promise<number> {
  const key = sql.join(restOfKey[table].map((column) => sql.ref(column)));
  const result = await sql`
    delete from ${sql.table(table)} where tenant_id = ${tenantId} and (${key}) in (
      select ${key} from ${sql.table(table)} where tenant_id = ${tenantId}
      order by ${key} limit ${sql.lit(batchSize)})
  `.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

/** False where rows are left. Uncommitted deletions, and requests from before the closing, count as rows. */
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
    await tx.deleteFrom('tenants').where('id', '=', id).execute();
    const closed_at = sql<string>`statement_timestamp()`; // no worker's clock, because retention deletes by it
    await tx.updateTable('ledgers').set({ closed_at }).where('tenant_id', '=', id).execute();
    return true;
  });
}
