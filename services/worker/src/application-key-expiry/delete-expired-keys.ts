import { unclosedTenants } from '@sluice/audit';
import type { Database, Queryable } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 500;

/** No process needs to be notified, because a cached key is refused from its `expires_at` on. */
export async function deleteExpiredKeys(db: Database): Promise<void> {
  while ((await db.transaction().execute(deleteBatch)) > 0);
}

async function deleteBatch(tx: Queryable): Promise<number> {
  const { rows } = await sql<{ tenant_id: string; application_id: string; id: string; version: number }>`
    with due as (
      select tenant_id, application_id, id from application_keys
      where expires_at <= statement_timestamp()
      order by expires_at limit ${sql.lit(batchSize)}
      for update skip locked
    )
    delete from application_keys using due
    where application_keys.tenant_id = due.tenant_id
      and application_keys.application_id = due.application_id and application_keys.id = due.id
    returning application_keys.tenant_id, application_keys.application_id, application_keys.id, version
  `.execute(tx);
  if (rows.length === 0) return 0;
  await sql`
    with open as (${unclosedTenants(rows.map(({ tenant_id }) => tenant_id))})
    insert into audit_log (tenant_id, actor_type, operation, entity_type, entity_id, message, detail)
    select open.id, 'system', 'update', 'application', application_id, 'Key of the Application expired',
      jsonb_build_object('key_id', key.id, 'key_version', version)
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as key(tenant_id uuid, application_id text, id text, version integer)
    join open on open.id = key.tenant_id
  `.execute(tx);
  return rows.length;
}
