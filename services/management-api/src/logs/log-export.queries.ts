import { type LogRow, logColumns } from '@sluice/audit';
import type { Queryable } from '@sluice/database';
import { subtreesOf } from '@sluice/ledger';
import { type RawBuilder, sql } from 'kysely';
import { hashRanges } from './ledger.queries.ts';
import { all, type Condition, conditionsOf, type LogFilter, sourceOf } from './log.queries.ts';

/** A row with its position in the ledger. */
export interface LeafRow extends Omit<LogRow, 'detail'> {
  /** The JSON text of Postgres, passed on without parsing. */
  detail: string | null;
  leaf_version: number;
  leaf_index: number;
  /** Hexadecimal, lower case. */
  leaf_hash: string;
}

/** Leaves from `from` up to but not including `end`. */
export interface LeafSpan {
  from: number;
  end: number;
}

export interface LeafPage {
  rows: LeafRow[];
  next: number;
}

const pageRows = 1000;
/** The bytes of details after which a page ends. */
const pageBytes = 256 * 1024;

type Page = (db: Queryable, tenantId: string, options: LeafSpan & { filter: LogFilter }) => Promise<LeafPage>;

/** The matching rows among the next thousand leaves, in leaf order. The cost depends on the number of leaves. */
export const readNextLeaves: Page = async (db, tenantId, { filter, from, end }) => {
  const until = Math.min(from + pageRows, end);
  const rows = await readPage(
    db,
    sql`
      from ledger_leaves as leaf
      join lateral (
        select * from audit_log where tenant_id = ${tenantId} and at = leaf.at and id = leaf.log_id offset 0
      ) as log on true
      where leaf.tenant_id = ${tenantId} and leaf.leaf_index >= ${from} and leaf.leaf_index < ${until}
        and ${all([...conditionsOf(tenantId, filter), ...touches(tenantId, filter)])}`,
  );
  return { rows, next: isFull(rows) ? placeAfter(rows, until) : until };
};

/** The next matching rows in leaf order, found by the filter. Each page looks at all matches, so there must be few. */
export const readNextMatches: Page = async (db, tenantId, { filter, from, end }) => {
  const where = (more: readonly Condition[]) => sql`where ${all([...conditionsOf(tenantId, filter), ...more])}`;
  const rows = await readPage(
    db,
    sql`
      from (${sourceOf(tenantId, filter, where)}) as log
      join lateral (
        select leaf_index, leaf_version, leaf_hash from ledger_leaves
        where tenant_id = ${tenantId} and log_id = log.id offset 0
      ) as leaf on true
      where leaf.leaf_index >= ${from} and leaf.leaf_index < ${end}
      order by leaf.leaf_index limit ${pageRows}`,
  );
  return { rows, next: isFull(rows) || rows.length === pageRows ? placeAfter(rows, end) : end };
};

type Measured = LeafRow & { bytes_so_far: number };

const columns = sql.join(logColumns.filter((name) => name !== 'detail').map((name) => sql.ref(name)));
const inner = sql.join(logColumns.map((name) => sql.ref(`log.${name}`)));

async function readPage(db: Queryable, source: RawBuilder<unknown>): Promise<Measured[]> {
  const { rows } = await sql<Measured>`
    select ${columns}, detail::text as detail, leaf_version, leaf_index, encode(leaf_hash, 'hex') as leaf_hash, bytes_so_far
    from (
      select *, sum(bytes) over (order by leaf_index rows unbounded preceding) as bytes_so_far from (
        select ${inner}, leaf.leaf_version, leaf.leaf_index, leaf.leaf_hash, coalesce(pg_column_size(log.detail), 0) as bytes
        ${source}
      ) as measured
    ) as counted
    where bytes_so_far - bytes < ${pageBytes} order by leaf_index
  `.execute(db);
  return rows;
}

/** Whether the page stopped at its limit of bytes, so that rows may be missing. */
function isFull(rows: readonly Measured[]): boolean {
  return (rows.at(-1)?.bytes_so_far ?? 0) >= pageBytes;
}

function placeAfter(rows: readonly LeafRow[], otherwise: number): number {
  const last = rows.at(-1);
  return last ? last.leaf_index + 1 : otherwise;
}

/** The condition of the filter's token, for queries that find rows by other conditions. */
function touches(tenantId: string, { token_id }: LogFilter): Condition[] {
  if (token_id === undefined) return [];
  return [
    sql`exists (
      select from audit_log_tokens
      where tenant_id = ${tenantId} and token_id = ${token_id} and at = log.at and log_id = log.id
    )`,
  ];
}

/** Base64 hashes of the complete subtrees over the rows that retention has dropped, left to right. */
export async function hashesOfDropped(db: Queryable, tenantId: string, dropped: number): Promise<string[]> {
  const ranges = subtreesOf(dropped).map(({ level, index }) => ({
    start: index * 2 ** level,
    end: (index + 1) * 2 ** level,
  }));
  const hashes = await hashRanges(db, tenantId, ranges);
  return hashes.map((hash) => hash.toString('base64'));
}
