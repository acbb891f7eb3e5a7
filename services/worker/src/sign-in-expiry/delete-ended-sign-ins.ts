import type { Database } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 1000;

/** When a row becomes useless; an expired invitation can be sent again for a month. */
const ends = {
  sign_ins: sql`statement_timestamp()`,
  sign_in_links: sql`statement_timestamp()`,
  invitations: sql`statement_timestamp() - interval '30 days'`,
};

/** No process needs to be notified, because none of them is accepted from its `expires_at` on. */
export async function deleteEndedSignIns(db: Database): Promise<void> {
  for (const [table, before] of Object.entries(ends)) {
    let deleted: bigint | undefined;
    do {
      const result = await sql`
        with due as (
          select tenant_id, secret_hash from ${sql.table(table)} where expires_at <= ${before}
          order by expires_at limit ${sql.lit(batchSize)} for update skip locked
        )
        delete from ${sql.table(table)} as ended using due
        where ended.tenant_id = due.tenant_id and ended.secret_hash = due.secret_hash
      `.execute(db);
      deleted = result.numAffectedRows;
    } while (deleted);
  }
}
