import type { Database } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 1000;

/** Deletes at most one batch. Records older than 24 hours are not replayed even while they exist. @returns how many. */
export async function deleteOldRecords(db: Database, tenantId: string): Promise<number> {
  const { numAffectedRows } = await sql`
    with due as materialized (
      select application_id, request_hash from idempotency_records
      where tenant_id = ${tenantId} and created_at < statement_timestamp() - interval '24 hours'
      order by created_at limit ${sql.lit(batchSize)} for update skip locked
    )
    delete from idempotency_records as records using due
    where records.tenant_id = ${tenantId}
      and records.application_id = due.application_id and records.request_hash = due.request_hash
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}
