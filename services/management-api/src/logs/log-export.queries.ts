import { type LogRow, logColumns } from '@sluice/audit';
import { type Database, type Queryable, rowsAsArrays } from '@sluice/database';
import { subtreesOf } from '@sluice/ledger';
import { ServiceError } from '@sluice/problems';
import { type RawBuilder, sql } from 'kysely';
import { findLedger, hashRanges } from './ledger.queries.ts';
import { all, type Condition, conditionsOf, type LogFilter, sourceOf } from './log.queries.ts';

export interface LeafRow {
  log: LogRow;
  /** As Postgres wrote it, passed on without parsing. */
  detail: string | null;
  leaf_version: number;
  leaf_index: number;
  leaf_hash: string;
}

/** `end` is not included. */
export interface LeafSpan {
  from: number;
  end: number;
}

export interface LeafPage {
  rows: LeafRow[];
  next: number;
}

export const pageRows = 1000;
/** A page ends after this many bytes of details. */
const pageBytes = 256 * 1024;

/** @throws {ServiceError} `unavailable` if retention has dropped rows of the span. */
type Page = (db: Database, tenantId: string, options: PageOptions) => Promise<LeafPage>;

type PageOptions = LeafSpan & { filter: LogFilter; most: number };

/** The cost depends on the number of leaves. */
export const readNextLeaves: Page = async (db, tenantId, { filter, from, end, most }) => {
  const until = Math.min(from + most, end);
  const source = sql`
      from ledger_leaves as leaf
      join lateral (
        select * from audit_log where tenant_id = ${tenantId} and at = leaf.at and id = leaf.log_id offset 0
      ) as log on true
      where leaf.tenant_id = ${tenantId} and leaf.leaf_index >= ${from} and leaf.leaf_index < ${until}
        and ${all([...conditionsOf(tenantId, filter), ...touches(tenantId, filter)])}`;
  const { rows, isFull } = await readRows(db, tenantId, { from, source });
  return { rows, next: isFull ? placeAfter(rows, until) : until };
};

/** Each page searches all matches again, so use it only if there are few. */
export const readNextMatches: Page = async (db, tenantId, { filter, from, end, most }) => {
  const where = (more: readonly Condition[]) => sql`where ${all([...conditionsOf(tenantId, filter), ...more])}`;
  const source = sql`
      from (${sourceOf(tenantId, filter, where)}) as log
      join lateral (
        select leaf_index, leaf_version, leaf_hash from ledger_leaves
        where tenant_id = ${tenantId} and log_id = log.id offset 0
      ) as leaf on true
      where leaf.leaf_index >= ${from} and leaf.leaf_index < ${end}
      order by leaf.leaf_index limit ${most}`;
  const { rows, isFull } = await readRows(db, tenantId, { from, source });
  return { rows, next: isFull || rows.length === most ? placeAfter(rows, end) : end };
};

/** Postgres formats times and details, because Node would take longer. */
type Sent = [
  id: string,
  at: string,
  actorId: string | null,
  actorType: string | null,
  entityType: string,
  entityId: string,
  operation: string,
  message: string | null,
  traceId: string | null,
  detail: string | null,
  leafVersion: number,
  leafIndex: number,
  leafHash: string,
  bytesSoFar: number,
  dropped: number,
];

const columns = sql`
  id, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), actor_id, actor_type, entity_type, entity_id,
  operation, message, trace_id, text, leaf_version, leaf_index, encode(leaf_hash, 'hex'), bytes_so_far`;
const inner = sql.join(logColumns.map((name) => sql.ref(`log.${name}`)));

interface Found {
  rows: LeafRow[];
  /** The page stopped at its limit of bytes, so rows may be missing. */
  isFull: boolean;
}

const inOrder = sql`order by leaf_index rows unbounded preceding`;
/** The text may be a hundred times its stored size, so Postgres writes only details that may be on the page. */
const bytes = sql`greatest(octet_length(text), stored)`;

async function readRows(
  db: Database,
  tenantId: string,
  { from, source }: { from: number; source: RawBuilder<unknown> },
): Promise<Found> {
  const sent = await rowsAsArrays<Sent>(
    db,
    sql`
    select ${columns}, (select dropped from ledgers where tenant_id = ${tenantId})
    from (
      select *, sum(${bytes}) over (${inOrder}) as bytes_so_far from (
        select *, detail::text as text from (
          select *, sum(stored) over (${inOrder}) as stored_so_far from (
            select ${inner}, leaf.leaf_version, leaf.leaf_index, leaf.leaf_hash, coalesce(pg_column_size(log.detail), 0) as stored
            ${source}
          ) as found
        ) as near
        where stored_so_far - stored < ${pageBytes} order by leaf_index offset 0
      ) as written
    ) as counted
    where bytes_so_far - ${bytes} < ${pageBytes} order by leaf_index`,
  );
  const last = sent.at(-1);
  const dropped = last?.[14] ?? (await findLedger(db, tenantId))?.dropped ?? 0;
  if (dropped > from) {
    throw new ServiceError('unavailable', 'Retention dropped rows before they were exported; start the export again');
  }
  return { rows: sent.map((row) => toLeafRow(row, tenantId)), isFull: (last?.[13] ?? 0) >= pageBytes };
}

function toLeafRow(sent: Sent, tenant_id: string): LeafRow {
  const [id, at, actor_id, actor_type, entity_type, entity_id, operation, message, trace_id, detail] = sent;
  const who = { id, tenant_id, at, actor_id, actor_type };
  const log = { ...who, entity_type, entity_id, operation, message, trace_id, detail: null };
  return { log, detail, leaf_version: sent[10], leaf_index: sent[11], leaf_hash: sent[12] };
}

function placeAfter(rows: readonly LeafRow[], otherwise: number): number {
  const last = rows.at(-1);
  return last ? last.leaf_index + 1 : otherwise;
}

function touches(tenantId: string, { token_id }: LogFilter): Condition[] {
  if (token_id === undefined) return [];
  return [
    sql`exists (
      select from audit_log_tokens
      where tenant_id = ${tenantId} and token_id = ${token_id} and at = log.at and log_id = log.id
    )`,
  ];
}

/** Base64 hashes of the complete subtrees over these rows, left to right. */
export async function hashesOfDropped(db: Queryable, tenantId: string, dropped: number): Promise<string[]> {
  const ranges = subtreesOf(dropped).map(({ level, index }) => ({
    start: index * 2 ** level,
    end: (index + 1) * 2 ** level,
  }));
  const hashes = await hashRanges(db, tenantId, ranges);
  return hashes.map((hash) => hash.toString('base64'));
}
