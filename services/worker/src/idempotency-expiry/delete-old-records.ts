import type { Database } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 1000;

/** Answers that were kept under idempotency keys go after 24 hours, when nobody is given them any more. */
export async function deleteOldRecords(db: Database): Promise<void> {
  let deleted: bigint | undefined;
  do {
    const result = await sql`
      delete from idempotency_records where ctid = any(array(
        select ctid from idempotency_records where created_at < statement_timestamp() - interval '24 hours'
        limit ${sql.lit(batchSize)}))
    `.execute(db);
    deleted = result.numAffectedRows;
  } while (deleted);
}
