import { unclosedTenants } from '@sluice/audit';
import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 500;

/**
 * Removes at most one batch, without locked rows. Caches drop a token at its `cvc_due_at`, so they need no notice.
 * @returns how many.
 */
export async function removeDueCvcs(tx: Queryable, tenantId: string): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    with due as materialized (
      select id from tokens where tenant_id = ${tenantId} and cvc_due_at <= statement_timestamp()
      order by cvc_due_at limit ${sql.lit(batchSize)} for update skip locked
    )
    update tokens set cvc_ciphertext = null, cvc_due_at = null from due
    where tokens.tenant_id = ${tenantId} and tokens.id = due.id
    returning tokens.id
  `.execute(tx);
  if (rows.length === 0) return 0;
  await sql`
    with open as (${unclosedTenants([tenantId])})
    insert into audit_log (tenant_id, actor_type, operation, entity_type, entity_id, message)
    select open.id, 'system', 'update', 'token', each.id, 'Card verification code removed'
    from unnest(${rows.map(({ id }) => id)}::text[]) as each(id) cross join open
  `.execute(tx);
  return rows.length;
}
