import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';
import { notExpired } from '../token.queries.ts';
import type { TokenRow } from '../token.ts';

/** Creations of equal tokens wait until the transaction ends. Sorted, so that they cannot deadlock. */
export async function lockFingerprints(
  tx: Queryable,
  tenantId: string,
  fingerprints: readonly string[],
): Promise<void> {
  const names = [...new Set(fingerprints)].sort().map((fingerprint) => `${tenantId}/${fingerprint}`);
  await sql`select pg_advisory_xact_lock(hashtextextended(name, 0)) from unnest(${names}::text[]) as t(name)`.execute(
    tx,
  );
}

export async function findOldestByFingerprint(
  db: Queryable,
  tenantId: string,
  pairs: readonly { type: string; fingerprint: string }[],
): Promise<Pick<TokenRow, 'id' | 'type' | 'fingerprint' | 'containers'>[]> {
  return db
    .selectFrom('tokens')
    .select(['id', 'type', 'fingerprint', 'containers'])
    .distinctOn(['type', 'fingerprint'])
    .where('tenant_id', '=', tenantId)
    .where('type', '=', sql<string>`any(${pairs.map(({ type }) => type)}::text[])`)
    .where('fingerprint', '=', sql<string>`any(${pairs.map(({ fingerprint }) => fingerprint)}::text[])`)
    .where(notExpired)
    .orderBy('type')
    .orderBy('fingerprint')
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Call it after {@link lockFingerprints}. */
export async function hasEqual(
  tx: Queryable,
  tenantId: string,
  { id, type, fingerprint }: { id: string; type: string; fingerprint: string },
): Promise<boolean> {
  const other = await tx
    .selectFrom('tokens')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('type', '=', type)
    .where('fingerprint', '=', fingerprint)
    .where('id', '!=', id)
    .where(notExpired)
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}
