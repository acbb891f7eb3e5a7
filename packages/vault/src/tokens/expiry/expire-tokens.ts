import { messageOf } from '@sluice/audit';
import { counterSlot, type Queryable } from '@sluice/database';
import { type RawBuilder, sql } from 'kysely';

const batchSize = 500;

/**
 * Deletes at most a batch of the tokens whose `expires_at` has come, of all Tenants, oldest first, with their counts and
 * one audit row each. Any number of workers may do it at once: one that is being deleted by another is passed over. No
 * cache needs to hear of it, since `expires_at` is compared at each use.
 * @returns how many; 0 when none is left.
 */
export function deleteExpiredTokens(db: Queryable): Promise<number> {
  return deleteDue(db, sql`true`, sql`for update skip locked`);
}

/**
 * Deletes those of these ids of one Tenant that have expired, so that the ids are free though no worker has been there
 * yet; one that is being deleted is waited for.
 * @returns whether all of the ids are free now.
 */
export async function freeExpiredIds(db: Queryable, tenantId: string, ids: readonly string[]): Promise<boolean> {
  const which = sql`tenant_id = ${tenantId} and id = any(${[...ids]}::text[])`;
  while ((await deleteDue(db, which, sql`for update`)) > 0);
  const taken = await db
    .selectFrom('tokens')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', sql<string>`any(${[...ids]}::text[])`)
    .limit(1)
    .executeTakeFirst();
  return taken === undefined;
}

/** By the database's clock. `statement_timestamp()` is one moment for all rows, so that an index can be searched by it. */
async function deleteDue(db: Queryable, which: RawBuilder<unknown>, lock: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await sql`
    with due as materialized (
      select tenant_id, id from tokens
      where expires_at <= statement_timestamp() and ${which}
      order by expires_at, id limit ${sql.lit(batchSize)} ${lock}
    ),
    deleted as (
      delete from tokens using due
      where tokens.tenant_id = due.tenant_id and tokens.id = due.id
      returning tokens.tenant_id, tokens.id, tokens.type
    ),
    counted as (
      insert into counters (tenant_id, counter, slot, value)
      select tenant_id, 'tokens:' || type, ${counterSlot}, -count(*) from deleted
      group by tenant_id, type order by tenant_id, type
      on conflict (tenant_id, counter, slot) do update set value = counters.value + excluded.value
    )
    insert into audit_log (tenant_id, actor_type, operation, entity_type, entity_id, message)
    select tenant_id, 'system', 'expire', 'token', id, ${messageOf('token', 'expire')} from deleted
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}
