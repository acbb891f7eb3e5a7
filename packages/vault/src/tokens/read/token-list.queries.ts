import type { Database, Queryable } from '@sluice/database';
import { sql } from 'kysely';
import type { Condition } from '../../search/token-terms.ts';
import { largeColumns, sizeBytes, smallColumns } from '../token.queries.ts';
import type { TokenRow } from '../token.ts';

export interface PageRequest {
  page: number;
  size: number;
}

export interface TokenPosition {
  created_at: string;
  id: string;
}

export interface PageRow extends TokenPosition {
  sizeBytes: number;
  small: Omit<TokenRow, (typeof largeColumns)[number]>;
  /** Undefined for a row over {@link bytesAtOnce}, which is read later, by its id. */
  whole: TokenRow | undefined;
}

/** Bytes of rows that are read at once (at least one row), because a page can have a hundred rows of some MiB. */
export const bytesAtOnce = 1024 * 1024;
/** Bytes come from Postgres as hexadecimal, twice as long: they are in memory as a message, as text, and decoded. */
export const copiesRead = 5;

/** `statement_timestamp()` is constant for the statement, so Postgres can use an index. */
const isThere = sql<boolean>`(expires_at is null or expires_at > statement_timestamp())`;

/** Newest first. Reads only rows of the page, and an index of ids for skipped pages. */
export async function findPage(
  db: Queryable,
  tenantId: string,
  conditions: readonly Condition[],
  { page, size }: PageRequest,
): Promise<PageRow[]> {
  return readPage(
    db,
    tenantId,
    newest(db, tenantId, conditions)
      .limit(size)
      .offset((page - 1) * size),
  );
}

export async function findPageAfter(
  db: Queryable,
  tenantId: string,
  conditions: readonly Condition[],
  { after, size }: { after?: TokenPosition | undefined; size: number },
): Promise<PageRow[]> {
  const found = newest(db, tenantId, conditions).limit(size);
  const isAfter = after && sql<boolean>`(created_at, id) < (${after.created_at}::timestamptz, ${after.id}::text)`;
  return readPage(db, tenantId, isAfter ? found.where(isAfter) : found);
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

const sizeSoFar = sql<number>`sum(${sizeBytes}) over (order by created_at desc, id desc)`;
const isWhole = sql<boolean>`(${sizeSoFar} <= ${sql.lit(bytesAtOnce)})`;

export async function findPageOfIds(db: Queryable, tenantId: string, ids: readonly string[]): Promise<PageRow[]> {
  return readPage(db, tenantId, newest(db, tenantId, [sql<boolean>`id = any(${ids}::text[])`]));
}

async function readPage(db: Queryable, tenantId: string, found: ReturnType<typeof newest>): Promise<PageRow[]> {
  const rows = await db
    .selectFrom('tokens')
    .innerJoin(found.as('found'), 'found_id', 'id')
    .select(smallColumns)
    .select(largeColumns.map((name) => sql`case when ${isWhole} then ${sql.ref(name)} end`.as(name)))
    .select([sizeBytes.as('size_bytes'), isWhole.as('is_whole')])
    .where('tenant_id', '=', tenantId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return (rows as (TokenRow & { size_bytes: number; is_whole: boolean })[]).map(({ size_bytes, is_whole, ...row }) => ({
    id: row.id,
    created_at: row.created_at,
    sizeBytes: size_bytes,
    small: row,
    whole: is_whole ? row : undefined,
  }));
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

/**
 * From counters, minus expired tokens that the worker has not deleted yet. The worker lowers both together, so both are
 * read in one snapshot, though in two statements, because counters and tokens may be on different servers. Then each
 * server has its own snapshot, and the total may be wrong by deletions between the two.
 */
export async function countAll(db: Database, tenantId: string, types: readonly string[]): Promise<number> {
  if ((await countExpired(db, tenantId, types)) === 0) return countStored(db, tenantId, types);
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => (await countStored(tx, tenantId, types)) - (await countExpired(tx, tenantId, types)));
}

async function countStored(db: Queryable, tenantId: string, types: readonly string[]): Promise<number> {
  const counters = types.map((type) => `tokens:${type}`);
  const { rows } = await sql<{ total: number }>`
    select coalesce(sum(value), 0)::bigint as total from counters
    where tenant_id = ${tenantId} and starts_with(counter, 'tokens:')
      and (${types.length === 0} or counter = any(${counters}::text[]))
  `.execute(db);
  return rows[0]?.total ?? 0;
}

async function countExpired(db: Queryable, tenantId: string, types: readonly string[]): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from tokens
    where expires_at <= statement_timestamp() and tenant_id = ${tenantId}
      and (${types.length === 0} or type = any(${types}::text[]))
  `.execute(db);
  return rows[0]?.total ?? 0;
}
