import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 500;

/**
 * Deletes at most a batch of the card verification codes that are due, oldest first, with one audit row each. It needs
 * no key: what stays of the data has a ciphertext of its own, and the one with the code is deleted. No cache needs to
 * hear of it, since `cvc_due_at` is compared at each use.
 * @returns how many; 0 when none is left.
 */
export async function removeDueCvcs(db: Queryable): Promise<number> {
  const { numAffectedRows } = await sql`
    with due as materialized (
      select tenant_id, id from tokens
      where cvc_due_at <= statement_timestamp()
      order by cvc_due_at limit ${sql.lit(batchSize)} for update skip locked
    ),
    removed as (
      update tokens set cvc_ciphertext = null, cvc_due_at = null from due
      where tokens.tenant_id = due.tenant_id and tokens.id = due.id
      returning tokens.tenant_id, tokens.id
    )
    insert into audit_log (tenant_id, actor_type, operation, entity_type, entity_id, message)
    select tenant_id, 'system', 'update', 'token', id, 'Card verification code removed' from removed
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}
