import { nextVersion, type Queryable, type TenantsTable } from '@sluice/database';
import { type Insertable, sql } from 'kysely';

const columns = [
  'id',
  'owner_id',
  'name',
  'fingerprint_tokens',
  'deduplicate_tokens',
  'created_by',
  'created_at',
  'modified_by',
  'modified_at',
] as const;

export async function insertTenant(db: Queryable, row: Insertable<TenantsTable>): Promise<void> {
  await db.insertInto('tenants').values(row).execute();
}

export function findTenant(db: Queryable, id: string) {
  return db
    .selectFrom('tenants')
    .select([...columns, 'included_monthly_active_tokens'])
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
}

/** Keeps the Tenant open until the transaction ends. Undefined for a missing or closed Tenant. */
export function lockTenant(tx: Queryable, id: string) {
  return tx
    .selectFrom('tenants')
    .select('id')
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .forShare()
    .executeTakeFirst();
}

/** For a change of it. Undefined for a missing or closed Tenant. */
export function lockTenantRow(tx: Queryable, id: string) {
  return tx
    .selectFrom('tenants')
    .select(['name', 'created_at', 'modified_at'])
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export interface TenantChanges {
  name: string;
  fingerprint_tokens?: boolean;
  deduplicate_tokens?: boolean;
  modified_by: string;
}

export function updateTenant(db: Queryable, id: string, changes: TenantChanges) {
  return db
    .updateTable('tenants')
    .set({ ...changes, modified_at: nextVersion() })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .returning(columns)
    .executeTakeFirst();
}

/** The lock of {@link closeTenant}. Other writes for the Tenant continue, but none creates a data key for it. */
export async function lockToClose(tx: Queryable, id: string): Promise<void> {
  await tx.selectFrom('tenants').select('id').where('id', '=', id).forNoKeyUpdate().execute();
}

/** From the commit on, every key of the Tenant is refused. Returns false for a missing or closed Tenant. */
export async function closeTenant(tx: Queryable, id: string, modifiedBy: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('tenants')
    .set({
      closed_at: sql<string>`clock_timestamp()`,
      modified_by: modifiedBy,
      modified_at: sql<string>`clock_timestamp()`,
    })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
