import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';
import type { Condition } from '../../search/token-terms.ts';
import { tokenColumns } from '../token.queries.ts';
import type { TokenRow } from '../token.ts';

/** `page` counts from 1. */
export interface PageRequest {
  page: number;
  size: number;
}

/** A token's position in the list; the next page begins after it. */
export interface TokenPosition {
  created_at: string;
  id: string;
}

/** `statement_timestamp()` is constant for the statement, so Postgres can use an index. */
const isThere = sql<boolean>`(expires_at is null or expires_at > statement_timestamp())`;

/** Newest first. Only the rows of the page are read whole, so that skipped pages cost little. */
export async function findPage(
  db: Queryable,
  tenantId: string,
  conditions: readonly Condition[],
  { page, size }: PageRequest,
): Promise<TokenRow[]> {
  return readWhole(
    db,
    tenantId,
    newest(db, tenantId, conditions)
      .limit(size)
      .offset((page - 1) * size),
  );
}

/** A page that begins after a token: Postgres continues in the index where the previous page ended. */
export async function findPageAfter(
  db: Queryable,
  tenantId: string,
  conditions: readonly Condition[],
  { after, size }: { after?: TokenPosition | undefined; size: number },
): Promise<TokenRow[]> {
  const found = newest(db, tenantId, conditions).limit(size);
  const isAfter = after && sql<boolean>`(created_at, id) < (${after.created_at}::timestamptz, ${after.id}::text)`;
  return readWhole(db, tenantId, isAfter ? found.where(isAfter) : found);
}

function newest(db: Queryable, tenantId: string, conditions: readonly Condition[]) {
  return db
    .selectFrom('tokens')
    .select('id as found_id')
    .where('tenant_id', '=', tenantId)
    .where(isThere)
    .where((eb) => eb.and([...conditions]))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
}

async function readWhole(db: Queryable, tenantId: string, found: ReturnType<typeof newest>): Promise<TokenRow[]> {
  const rows = await db
    .selectFrom('tokens')
    .innerJoin(found.as('found'), 'found_id', 'id')
    .select(tokenColumns)
    .where('tenant_id', '=', tenantId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows as TokenRow[];
}

export async function countMatching(
  db: Queryable,
  tenantId: string,
  conditions: readonly Condition[],
): Promise<number> {
  const { total } = await db
    .selectFrom('tokens')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('tenant_id', '=', tenantId)
    .where(isThere)
    .where((eb) => eb.and([...conditions]))
    .executeTakeFirstOrThrow();
  return total;
}

/** From counters, minus expired tokens that the worker has not yet deleted. */
export async function countAll(db: Queryable, tenantId: string, types: readonly string[]): Promise<number> {
  const counters = types.map((type) => `tokens:${type}`);
  const counted = await sql<{ total: number }>`
    select coalesce(sum(value), 0)::bigint as total from counters
    where tenant_id = ${tenantId} and starts_with(counter, 'tokens:')
      and (${types.length === 0} or counter = any(${counters}::text[]))
  `.execute(db);
  const expired = await sql<{ total: number }>`
    select count(*) as total from tokens
    where expires_at <= statement_timestamp() and tenant_id = ${tenantId}
      and (${types.length === 0} or type = any(${types}::text[]))
  `.execute(db);
  return (counted.rows[0]?.total ?? 0) - (expired.rows[0]?.total ?? 0);
}
