import { messageOf } from '@sluice/audit';
import { counterSlot, type Queryable } from '@sluice/database';
import { type RawBuilder, sql } from 'kysely';

const batchSize = 500;

/**
 * Deletes at most a batch of a Tenant's tokens whose `expires_at` has come, oldest first, with their counts and one audit
 * row each; call it in a transaction. Any number of workers may do it at once: one that is being deleted by another is
 * passed over. No cache needs to hear of it, since `expires_at` is compared at each use.
 * @returns how many; 0 when none is left.
 */
export function deleteExpiredTokens(tx: Queryable, tenantId: string): Promise<number> {
  return deleteDue(tx, tenantId, sql`true`, sql`for update skip locked`);
}

/**
 * Deletes those of these ids of one Tenant that have expired, so that the ids are free though no worker has been there
 * yet; one that is being deleted is waited for. Call it in a transaction.
 */
export async function freeExpiredIds(tx: Queryable, tenantId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const which = sql`id = any(${[...ids]}::text[])`;
  while ((await deleteDue(tx, tenantId, which, sql`for update`)) === batchSize);
}

/** By the database's clock. `statement_timestamp()` is one moment for all rows, so that an index can be searched by it. */
async function deleteDue(
  tx: Queryable,
  tenantId: string,
  which: RawBuilder<unknown>,
  lock: RawBuilder<unknown>,
): Promise<number> {
  const { rows } = await sql<{ id: string; type: string }>`
    with due as materialized (
      select id from tokens
      where tenant_id = ${tenantId} and expires_at <= statement_timestamp() and ${which}
      order by expires_at, id limit ${sql.lit(batchSize)} ${lock}
    )
    delete from tokens using due where tokens.tenant_id = ${tenantId} and tokens.id = due.id
    returning tokens.id, tokens.type
  `.execute(tx);
  if (rows.length === 0) return 0;
  await sql`
    with gone as (
      select * from unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ type }) => type)}::text[]) as each(id, type)
    ),
    counted as (
      insert into counters (tenant_id, counter, slot, value)
      select ${tenantId}::uuid, 'tokens:' || type, ${counterSlot}, -count(*) from gone group by type order by type
      on conflict (tenant_id, counter, slot) do update set value = counters.value + excluded.value
    )
    insert into audit_log (tenant_id, actor_type, operation, entity_type, entity_id, message)
    select ${tenantId}::uuid, 'system', 'expire', 'token', id, ${messageOf('token', 'expire')} from gone
  `.execute(tx);
  return rows.length;
}
