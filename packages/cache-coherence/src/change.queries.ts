import type { Database, Queryable } from '@sluice/database';
import { sql } from 'kysely';
import type { RecordedChange } from './change.ts';

export async function insertChanges(
  tx: Queryable,
  id: string,
  tagsByTenant: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const rows = Array.from(tagsByTenant, ([tenant_id, tags]) => ({ id, tenant_id, tags: [...tags] }));
  await tx.insertInto('changes').values(rows).execute();
}

export async function deleteChanges(db: Database, changes: readonly RecordedChange[]): Promise<void> {
  await db
    .deleteFrom('changes')
    .where('tenant_id', '=', sql<string>`any(${[...new Set(changes.flatMap((change) => change.tenantIds))]}::uuid[])`)
    .where('id', '=', sql<string>`any(${changes.map((change) => change.id)}::uuid[])`)
    .execute();
}

const batchSize = 500;

/** Oldest first. Changes whose writers died or gave up. */
export async function listForgottenChanges(db: Database, olderThanMs: number): Promise<RecordedChange[]> {
  const rows = await db
    .selectFrom('changes')
    .select(['id', 'tenant_id', 'tags'])
    .where('created_at', '<', sql<string>`statement_timestamp() - ${olderThanMs} * interval '1 millisecond'`)
    .orderBy('created_at')
    .limit(batchSize)
    .execute();
  return rows.map((row) => ({ id: row.id, tenantIds: [row.tenant_id], tags: row.tags }));
}

/** Their writers may still be waiting. Returns one change with all tags of these rows. */
export async function findUnconfirmed(
  db: Queryable,
  tenantId: string,
  tags: readonly string[],
): Promise<RecordedChange | undefined> {
  const rows = await db
    .selectFrom('changes')
    .select(['id', 'tags'])
    .where('tenant_id', '=', tenantId)
    .where('tags', '&&', sql<string[]>`${[...tags]}::text[]`)
    .execute();
  const [first] = rows;
  return first && { id: first.id, tenantIds: [tenantId], tags: rows.flatMap((row) => row.tags) };
}
