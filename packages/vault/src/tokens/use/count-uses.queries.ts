import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';
import { notExpired } from '../token.queries.ts';

interface Counted {
  id: string;
  /** Whether it had no use left; then none of the tokens is counted. */
  is_spent: boolean;
}

/**
 * Counts one use of each token with `max_uses`, or of none if one has none left. Rows are locked in the order of their
 * ids, so that gateways do not deadlock, and compared with the `max_uses` that they have by then. Tokens that are gone are
 * missing in the answer.
 */
export async function countUses(db: Queryable, tenantId: string, ids: readonly string[]): Promise<Counted[]> {
  const { rows } = await sql<Counted>`
    with asked as (
      select id, uses, coalesce(uses >= (use ->> 'max_uses')::integer, false) as is_spent, use ? 'max_uses' as is_limited
      from tokens
      where tenant_id = ${tenantId} and id = any(${ids}::text[]) and ${notExpired}
      order by id for update
    ),
    counted as (
      update tokens set uses = asked.uses + 1 from asked
      where tokens.tenant_id = ${tenantId} and tokens.id = asked.id and asked.is_limited
        and not exists (select from asked where is_spent)
      returning tokens.id
    )
    select id, is_spent from asked
  `.execute(db);
  return rows;
}

/** Uses so far, by id. A cached row does not have them, because counting changes nothing that caches hold. */
export async function findUses(
  db: Queryable,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('tokens')
    .select(['id', 'uses'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', sql<string>`any(${ids}::text[])`)
    .execute();
  return new Map(rows.map(({ id, uses }) => [id, uses]));
}
