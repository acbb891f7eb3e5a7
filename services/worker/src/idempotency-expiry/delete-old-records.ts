import type { Database } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 1000;

/** Answers that were kept under idempotency keys go after 24 hours, when nobody is given them any more. */
export async function deleteOldRecords(db: Database): Promise<void> {
  let deleted: bigint | undefined;
  do {
    const result = await sql`
      with due as materialized (
        select tenant_id, application_id, request_hash from idempotency_records
        where created_at < statement_timestamp() - interval '24 hours'
        order by created_at limit ${sql.lit(batchSize)} for update skip locked
      )
      delete from idempotency_records as records using due
      where (records.tenant_id, records.application_id, records.request_hash)
        = (due.tenant_id, due.application_id, due.request_hash)
    `.execute(db);
    deleted = result.numAffectedRows;
  } while (deleted);
}
