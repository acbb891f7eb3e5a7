import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';
import type { KeyPurpose } from '../keys/data-key.queries.ts';

export interface DataKeyPlace {
  tenant_id: string;
  purpose: KeyPurpose;
  version: number;
}

/** The wrapped key is null if the current root key has wrapped it. */
export interface PagedDataKey extends DataKeyPlace {
  wrapped_key: Buffer | null;
  root_key_id: string;
}

const pageRows = 500;

export const firstPlace: DataKeyPlace = {
  tenant_id: '00000000-0000-0000-0000-000000000000',
  purpose: '' as KeyPurpose,
  version: 0,
};

export async function readDataKeyPage(
  db: Queryable,
  { currentKeyId, after }: { currentKeyId: string; after: DataKeyPlace },
): Promise<PagedDataKey[]> {
  const { rows } = await sql<PagedDataKey>`
    select tenant_id, purpose, version, root_key_id,
      case when root_key_id <> ${currentKeyId} then wrapped_key end as wrapped_key
    from data_keys
    where (tenant_id, purpose, version) > (${after.tenant_id}::uuid, ${after.purpose}::text, ${after.version}::integer)
    order by tenant_id, purpose, version limit ${sql.lit(pageRows)}
  `.execute(db);
  return rows;
}

export interface Rewrapped extends DataKeyPlace {
  oldWrappedKey: Buffer;
  wrapped_key: Buffer;
  root_key_id: string;
}

/** Skips keys that are locked or have changed. @returns how many it stored. */
export async function replaceWrappedKeys(db: Queryable, keys: readonly Rewrapped[]): Promise<number> {
  const { numAffectedRows } = await sql`
    with input (tenant_id, purpose, version, old_key, new_key, new_root_key_id) as materialized (
      select * from unnest(
        ${keys.map((key) => key.tenant_id)}::uuid[], ${keys.map((key) => key.purpose)}::text[],
        ${keys.map((key) => key.version)}::integer[], ${keys.map((key) => key.oldWrappedKey)}::bytea[],
        ${keys.map((key) => key.wrapped_key)}::bytea[], ${keys.map((key) => key.root_key_id)}::text[]
      )
    ),
    due as materialized (
      select input.* from data_keys as stored join input
        on stored.tenant_id = input.tenant_id and stored.purpose = input.purpose and stored.version = input.version
      where stored.wrapped_key = input.old_key
      order by stored.tenant_id, stored.purpose, stored.version for update of stored skip locked
    )
    update data_keys as stored set wrapped_key = due.new_key, root_key_id = due.new_root_key_id
    from due
    where stored.tenant_id = due.tenant_id and stored.purpose = due.purpose and stored.version = due.version
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}
