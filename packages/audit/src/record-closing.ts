import type { Database } from '@sluice/database';
import { sql } from 'kysely';
import { messageOf } from './log-entry.ts';
import { storedOperations } from './present-log.ts';

/**
 * Writes the last row of a closed Tenant's log, unless it exists. Call it after the commit that closed the Tenant:
 * earlier changes lock the Tenant (`for key share`) until they commit, and this waits for them. Before that commit it
 * could wait for ever, because Postgres lets new changes go first.
 */
export async function recordClosing(db: Database, tenantId: string, traceId: string | null): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const tenant = await tx
      .selectFrom('tenants')
      .select('modified_by')
      .where('id', '=', tenantId)
      .where('closed_at', 'is not', null)
      .forUpdate()
      .executeTakeFirst();
    if (!tenant) return;
    // A separate statement, because it must see rows that another process wrote while this one waited.
    await sql`
      insert into audit_log (
        tenant_id, actor_id, actor_type, trace_id, operation, entity_type, entity_id, message
      )
      select ${tenantId}::uuid, ${tenant.modified_by}::uuid, case
          when ${tenant.modified_by}::uuid is null then 'system'
          when exists (
            select from members where tenant_id = ${tenantId}::uuid and user_id = ${tenant.modified_by}::uuid
          ) then 'user'
          else 'application'
        end, ${traceId}, 'delete', 'tenant', ${tenantId}, ${messageOf('tenant', 'delete')}
      where not exists (
        select from audit_log where tenant_id = ${tenantId}::uuid and entity_type = 'tenant'
          and operation = any(${storedOperations('tenant', 'delete')}::text[])
      )
    `.execute(tx);
  });
}
