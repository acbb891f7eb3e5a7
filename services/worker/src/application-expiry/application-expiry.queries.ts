import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 500;

/**
 * Due by the database's clock, oldest first, of all Tenants. `statement_timestamp()` since an index can be searched by
 * it: `clock_timestamp()` may differ from row to row, and would be compared with every row that ever expires.
 */
export function listDueApplications(db: Queryable) {
  return db
    .selectFrom('applications')
    .select(['tenant_id', 'id'])
    .where('expires_at', '<=', sql<string>`statement_timestamp()`)
    .orderBy('expires_at')
    .limit(batchSize)
    .execute();
}

/** When the Application is due; undefined where there is none, or it never is. */
export async function findExpiry(db: Queryable, tenantId: string, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('applications')
    .select('expires_at')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.expires_at ?? undefined;
}
