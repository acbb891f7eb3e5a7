import type { Database } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 1000;

/**
 * Deletes at most one batch. What is kept is longer than the ranges of `GET /tenants/self/metrics` that show it: an hour, a
 * week, thirty days. @returns how many.
 */
export async function deleteOldCounts(db: Database, tenantId: string): Promise<number> {
  const { numAffectedRows } = await sql`
    with old as materialized (
      select step, start, kind, id from invocation_counts
      where tenant_id = ${tenantId} and (
        step = 60 and start < statement_timestamp() - interval '2 hours'
        or step = 900 and start < statement_timestamp() - interval '9 days'
        or step = 21600 and start < statement_timestamp() - interval '35 days'
      )
      order by step, start limit ${sql.lit(batchSize)} for update skip locked
    )
    delete from invocation_counts as counts using old
    where counts.tenant_id = ${tenantId} and counts.step = old.step and counts.start = old.start
      and counts.kind = old.kind and counts.id = old.id
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}
