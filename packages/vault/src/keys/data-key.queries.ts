import type { DataKeysTable, Queryable } from '@sluice/database';
import { sql } from 'kysely';

export type KeyPurpose = DataKeysTable['purpose'];

export interface KeyOwner {
  tenantId: string;
  purpose: KeyPurpose;
}

export interface WrappedKey {
  version: number;
  wrapped_key: Buffer;
  root_key_id: string;
}

export function findWrappedKey(db: Queryable, owner: KeyOwner, version: number): Promise<WrappedKey | undefined> {
  return db
    .selectFrom('data_keys')
    .select(['version', 'wrapped_key', 'root_key_id'])
    .where('tenant_id', '=', owner.tenantId)
    .where('purpose', '=', owner.purpose)
    .where('version', '=', version)
    .executeTakeFirst();
}

/** Version 0 if there is no key for this purpose. */
export async function findNewestVersion(
  db: Queryable,
  owner: KeyOwner,
): Promise<{ version: number; use_count: number }> {
  const row = await db
    .selectFrom('data_keys')
    .select(['version', 'use_count'])
    .where('tenant_id', '=', owner.tenantId)
    .where('purpose', '=', owner.purpose)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? { version: 0, use_count: 0 };
}

/** Counts uses before they happen. Undefined if there is no key, or its limit would be exceeded. */
export async function reserveUses(
  db: Queryable,
  owner: KeyOwner,
  { uses, maximumUses }: { uses: number; maximumUses: number },
): Promise<number | undefined> {
  const { rows } = await sql<{ version: number }>`
    update data_keys set use_count = use_count + ${uses}
    where tenant_id = ${owner.tenantId} and purpose = ${owner.purpose}
      and version = (
        select max(version) from data_keys where tenant_id = ${owner.tenantId} and purpose = ${owner.purpose}
      )
      and use_count + ${uses}::bigint <= ${maximumUses}::bigint
    returning version
  `.execute(db);
  return rows[0]?.version;
}

/** Does nothing if another process was first or the Tenant is closed. Waits for a transaction that closes it. */
export async function insertDataKey(db: Queryable, owner: KeyOwner, key: WrappedKey): Promise<void> {
  await sql`
    insert into data_keys (tenant_id, purpose, version, wrapped_key, root_key_id)
    select id, ${owner.purpose}, ${key.version}::integer, ${key.wrapped_key}::bytea, ${key.root_key_id}
    from tenants where id = ${owner.tenantId} and closed_at is null for share
    on conflict (tenant_id, purpose, version) do nothing
  `.execute(db);
}

/**
 * Makes a Tenant's ciphertexts unreadable for ever. Call it in the transaction that closes the Tenant, with its row
 * locked.
 */
export async function destroyTenantKeys(tx: Queryable, tenantId: string): Promise<void> {
  await tx.deleteFrom('data_keys').where('tenant_id', '=', tenantId).execute();
}

/** True also for a Tenant that never existed. */
export async function isTenantClosed(db: Queryable, tenantId: string): Promise<boolean> {
  const open = await db
    .selectFrom('tenants')
    .select('id')
    .where('id', '=', tenantId)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  return open === undefined;
}
