import { messageOf, unclosedTenants } from '@sluice/audit';
import { counterSlot, type Database, type Queryable } from '@sluice/database';
import { type RawBuilder, sql } from 'kysely';

const batchSize = 500;

/**
 * Deletes at most one batch, without locked rows. Caches compare `expires_at`, so they need no notice. @returns how
 * many.
 */
export function deleteExpiredTokens(tx: Queryable, tenantId: string): Promise<number> {
  const due = sql`expires_at <= statement_timestamp() order by expires_at, id`;
  return deleteDue(tx, tenantId, due, sql`for update skip locked`);
}

/** Frees expired ids before the worker does, in transactions of a batch; waits for a concurrent deletion. */
export async function freeExpiredIds(db: Database, tenantId: string, ids: readonly string[]): Promise<void> {
  const due = sql`expires_at <= statement_timestamp() and id = any(${[...ids]}::text[]) order by id`;
  const deleteBatch = () => db.transaction().execute((tx) => deleteDue(tx, tenantId, due, sql`for update`));
  while ((await deleteBatch()) === batchSize);
}

/** `due` uses `statement_timestamp()`, the same for all rows, so an index serves it. */
async function deleteDue(
  tx: Queryable,
  tenantId: string,
  due: RawBuilder<unknown>,
  lock: RawBuilder<unknown>,
): Promise<number> {
  const { rows } = await sql<{ id: string; type: string }>`
    with due as materialized (
      select id from tokens where tenant_id = ${tenantId} and ${due} limit ${sql.lit(batchSize)} ${lock}
    )
    delete from tokens using due where tokens.tenant_id = ${tenantId} and tokens.id = due.id
    returning tokens.id, tokens.type
  `.execute(tx);
  if (rows.length === 0) return 0;
  await sql`
    with open as (${unclosedTenants([tenantId])}),
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
