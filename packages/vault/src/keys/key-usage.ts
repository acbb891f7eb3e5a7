import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';

/** After this many encryptions a new version is made. Random nonces allow 2^32 (NIST SP 800-38D). */
export const mostEncryptions = 2 ** 28;

export interface KeyUsage {
  encryptions: number;
  /** Age of the oldest key that still encrypts; keys of hashes are never replaced. */
  ageSeconds: number;
}

export async function readKeyUsage(db: Queryable): Promise<KeyUsage> {
  const { rows } = await sql<KeyUsage>`
    with newest as (
      select distinct on (tenant_id, purpose) use_count, created_at from data_keys
      where purpose not in ('fingerprint', 'blind_index')
      order by tenant_id, purpose, version desc
    )
    select coalesce(max(use_count), 0) as "encryptions",
      coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as "ageSeconds"
    from newest
  `.execute(db);
  return rows[0] ?? { encryptions: 0, ageSeconds: 0 };
}
