import { messageOf, openTenants } from '@sluice/audit';
import { counterSlot, type Queryable } from '@sluice/database';
import { type RawBuilder, sql } from 'kysely';

const batchSize = 500;

/**
 * Deletes at most one batch of a Tenant's expired tokens, oldest first, and updates counters and audit log; call it in
 * a transaction. Workers may run it concurrently, because a row that another one is deleting is skipped. Caches need no
 * notice, because `expires_at` is compared at each use.
 * @returns how many; 0 when none is left.
 */
export function deleteExpiredTokens(tx: Queryable, tenantId: string): Promise<number> {
  return deleteDue(tx, tenantId, sql`true`, sql`for update skip locked`);
}

/** Frees expired ids before the worker does; waits for a concurrent deletion. Call it in a transaction. */
export async function freeExpiredIds(tx: Queryable, tenantId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const which = sql`id = any(${[...ids]}::text[])`;
  while ((await deleteDue(tx, tenantId, which, sql`for update`)) === batchSize);
}

/** `statement_timestamp()` is the same for all rows, so Postgres can use the index. */
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
    with open as (${openTenants([tenantId])}),
    gone as (
      select * from unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ type }) => type)}::text[]) as each(id, type)
    ),
    counted as (
      insert into counters (tenant_id, counter, slot, value)
      select ${tenantId}::uuid, 'tokens:' || type, ${counterSlot}, -count(*) from gone group by type order by type
      on conflict (tenant_id, counter, slot) do update set value = counters.value + excluded.value
    )
    insert into audit_log (tenant_id, actor_type, operation, entity_type, entity_id, message)
    select open.id, 'system', 'expire', 'token', gone.id, ${messageOf('token', 'expire')} from gone cross join open
  `.execute(tx);
  return rows.length;
}
