import type { Database } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 500;

/**
 * Deletes expired keys of Applications, each with an audit row. No process needs notice, because a cached key is
 * refused from its `expires_at` on. Rows that another worker is deleting are skipped.
 */
export async function deleteExpiredKeys(db: Database): Promise<void> {
  let deleted: bigint | undefined;
  do {
    const result = await sql`
      with due as (
        select tenant_id, application_id, id from application_keys
        where expires_at <= statement_timestamp()
        order by expires_at limit ${sql.lit(batchSize)}
        for update skip locked
      ),
      deleted as (
        delete from application_keys using due
        where application_keys.tenant_id = due.tenant_id
          and application_keys.application_id = due.application_id and application_keys.id = due.id
        returning application_keys.tenant_id, application_keys.application_id, application_keys.id, version
      )
      insert into audit_log (tenant_id, actor_type, operation, entity_type, entity_id, message, detail)
      select tenant_id, 'system', 'update', 'application', application_id, 'Key of the Application expired',
        jsonb_build_object('key_id', id, 'key_version', version)
      from deleted
    `.execute(db);
    deleted = result.numAffectedRows;
  } while (deleted);
}
