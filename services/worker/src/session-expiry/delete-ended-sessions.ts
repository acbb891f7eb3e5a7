import type { Database } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 1000;

/**
 * Deletes sessions whose moment has come, those that were never authorized included. No process has to be told, because
 * a session is refused from its moment on by whoever cached it.
 */
export async function deleteEndedSessions(db: Database): Promise<void> {
  let deleted: bigint | undefined;
  do {
    const result = await sql`
      delete from sessions where ctid = any(array(
        select ctid from sessions where expires_at <= statement_timestamp()
        limit ${sql.lit(batchSize)} for update skip locked))
    `.execute(db);
    deleted = result.numAffectedRows;
  } while (deleted);
}
