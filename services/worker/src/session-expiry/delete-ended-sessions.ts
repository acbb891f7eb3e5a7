import type { Database } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 1000;

/** No process needs to be notified, because a cached session is refused from its `expires_at` on. */
export async function deleteEndedSessions(db: Database): Promise<void> {
  let deleted: bigint | undefined;
  do {
    const result = await sql`
      with due as (
        select tenant_id, id from sessions where expires_at <= statement_timestamp()
        order by expires_at limit ${sql.lit(batchSize)} for update skip locked
      )
      delete from sessions using due where sessions.tenant_id = due.tenant_id and sessions.id = due.id
    `.execute(db);
    deleted = result.numAffectedRows;
  } while (deleted);
}
