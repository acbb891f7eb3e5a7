import type { Database, Queryable } from '@sluice/database';
import { sql } from 'kysely';
import type { KeyPurpose } from '../keys/data-key.queries.ts';

export interface KeyVersion {
  purpose: KeyPurpose;
  version: number;
  root_key_id: string;
  use_count: number;
  created_at: string;
}

/** Newest first within each purpose. */
export function listKeyVersions(db: Queryable, tenantId: string): Promise<KeyVersion[]> {
  return db
    .selectFrom('data_keys')
    .select(['purpose', 'version', 'root_key_id', 'use_count', 'created_at'])
    .where('tenant_id', '=', tenantId)
    .orderBy('purpose')
    .orderBy('version', 'desc')
    .execute();
}

export interface RootKeyUse {
  root_key_id: string;
  data_keys: number;
  tenants: number;
}

export async function countByRootKey(db: Database): Promise<RootKeyUse[]> {
  const { rows } = await sql<RootKeyUse>`
    select root_key_id, count(*) as data_keys, count(distinct tenant_id) as tenants
    from data_keys group by root_key_id order by data_keys desc, root_key_id
  `.execute(db);
  return rows;
}
