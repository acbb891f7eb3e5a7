import { sql } from 'kysely';
import type { Queryable } from './database.ts';

/** Enough slots that two connections seldom wait for one row, and few enough that a sum reads one page. */
const slots = 16;

export const counterSlot = sql<number>`pg_backend_pid() % ${sql.lit(slots)}`;

/** Call it in the transaction that changes what is counted. `at` also moves `last_at`. */
export async function addToCounter(
  db: Queryable,
  tenantId: string,
  counter: string,
  amount: number,
  at: string | null = null,
): Promise<void> {
  await sql`
    insert into counters (tenant_id, counter, slot, value, last_at)
    values (${tenantId}, ${counter}, ${counterSlot}, ${amount}, ${at})
    on conflict (tenant_id, counter, slot) do update
    set value = counters.value + excluded.value, last_at = greatest(counters.last_at, excluded.last_at)
  `.execute(db);
}

export async function readCounter(db: Queryable, tenantId: string, counter: string): Promise<number> {
  const { value } = await db
    .selectFrom('counters')
    .select((eb) => eb.fn.coalesce(eb.cast<number>(eb.fn.sum('value'), 'bigint'), sql.lit(0)).as('value'))
    .where('tenant_id', '=', tenantId)
    .where('counter', '=', counter)
    .executeTakeFirstOrThrow();
  return value;
}

/** Whether a page is past the end of the counted rows, so that it need not be read. Pages are numbered from 1. */
export function isPastEnd({ page, size }: { page: number; size: number }, total: number): boolean {
  return (page - 1) * size >= total;
}
