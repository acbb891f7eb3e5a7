import { keyNotExpired, notExpired } from '@sluice/credentials';
import { prepared, type Queryable } from '@sluice/database';
import { sql } from 'kysely';

const columns = ['id', 'version', 'name', 'last_four', 'created_by', 'created_at', 'expires_at'] as const;

export interface NewKey {
  tenantId: string;
  applicationId: string;
  version: number;
  name?: string | null;
  keyHash: Buffer;
  lastFour: string;
  expiresAt?: string | null;
  createdBy: string | null;
}

/** Its Application may be inserted later in the same transaction. */
export function insertKey(tx: Queryable, key: NewKey) {
  return tx
    .insertInto('application_keys')
    .values({
      tenant_id: key.tenantId,
      application_id: key.applicationId,
      version: key.version,
      name: key.name ?? null,
      key_hash: key.keyHash,
      last_four: key.lastFour,
      expires_at: key.expiresAt ?? null,
      created_by: key.createdBy,
    })
    .returning(columns)
    .executeTakeFirstOrThrow();
}

export function listKeys(db: Queryable, tenantId: string, applicationId: string) {
  return db
    .selectFrom('application_keys')
    .leftJoin('key_uses', (join) =>
      join
        .onRef('key_uses.tenant_id', '=', 'application_keys.tenant_id')
        .onRef('key_uses.application_id', '=', 'application_keys.application_id')
        .onRef('key_uses.key_id', '=', 'application_keys.id'),
    )
    .select([...columns, 'last_used_at'])
    .where('application_keys.tenant_id', '=', tenantId)
    .where('application_keys.application_id', '=', applicationId)
    .where(keyNotExpired)
    .orderBy('version', 'desc')
    .execute();
}

/** Call it with the Application locked. */
export async function nextKeyVersion(tx: Queryable, tenantId: string, applicationId: string): Promise<number> {
  const { last_key_version } = await tx
    .updateTable('applications')
    .set((eb) => ({ last_key_version: eb('last_key_version', '+', 1) }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', applicationId)
    .returning('last_key_version')
    .executeTakeFirstOrThrow();
  return last_key_version;
}

export async function deleteKey(tx: Queryable, tenantId: string, applicationId: string, id: string): Promise<void> {
  await tx
    .deleteFrom('application_keys')
    .where('tenant_id', '=', tenantId)
    .where('application_id', '=', applicationId)
    .where('id', '=', id)
    .execute();
}

/** Deletes expired ones too. */
export async function deleteKeys(tx: Queryable, tenantId: string, applicationId: string): Promise<void> {
  await tx
    .deleteFrom('application_keys')
    .where('tenant_id', '=', tenantId)
    .where('application_id', '=', applicationId)
    .execute();
}

/** The column serves the previous version, which knows no expiring keys. */
export async function keepOldKeyColumn(tx: Queryable, tenantId: string, applicationId: string): Promise<void> {
  await tx
    .updateTable('applications')
    .set((eb) => ({
      key_hash: eb
        .selectFrom('application_keys')
        .select('key_hash')
        .where('tenant_id', '=', tenantId)
        .where('application_id', '=', applicationId)
        .where('expires_at', 'is', null)
        .orderBy('version', 'desc')
        .limit(1),
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', applicationId)
    .execute();
}

export async function isKey(db: Queryable, keyHash: Buffer): Promise<boolean> {
  const rows = await selectByHash(db, keyHash);
  return rows.length > 0;
}

const selectByHash = prepared('application_key_by_hash', (db, keyHash: Buffer) =>
  db
    .selectFrom('application_keys')
    .innerJoin('applications', (join) =>
      join
        .onRef('applications.tenant_id', '=', 'application_keys.tenant_id')
        .onRef('applications.id', '=', 'application_keys.application_id'),
    )
    .select(sql<number>`1`.as('found'))
    .where('application_keys.key_hash', '=', keyHash)
    .where(keyNotExpired)
    .where(notExpired),
);
