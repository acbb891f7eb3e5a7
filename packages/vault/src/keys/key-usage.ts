import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';

/** Encryptions after which a new version is made: far from the 2^32 that random nonces allow (NIST SP 800-38D). */
export const mostEncryptions = 2 ** 28;

export interface KeyUsage {
  /** Most encryptions that were counted for one data key that is in use. */
  encryptions: number;
  /** Age of the oldest data key that is in use, in seconds; those that hash are never replaced, and do not count. */
  ageSeconds: number;
}

/** How far the data keys are from their replacement. It reads a row for each Tenant and purpose. */
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
