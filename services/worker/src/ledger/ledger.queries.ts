import { type LogRow, logColumns } from '@sluice/audit';
import { type Database, preparedSql, type Queryable, throughIndexes } from '@sluice/database';
import { type RawBuilder, sql } from 'kysely';

/** `isUnsignedDue` adds Tenants whose tree grew while no worker had a key. */
export async function listDueTenants(db: Database, { isUnsignedDue = false } = {}): Promise<string[]> {
  const unsigned = sql`union select tenant_id from ledgers where checkpoint is null and size > 0`;
  const { rows } = await sql<{ tenant_id: string }>`
    with recursive due as (
      (select tenant_id from audit_log_arrivals order by tenant_id limit 1)
      union all
      select (
        select tenant_id from audit_log_arrivals where tenant_id > due.tenant_id order by tenant_id limit 1
      ) from due where due.tenant_id is not null
    )
    select tenant_id from due where tenant_id is not null
    union
    select tenant_id from ledgers where unsequenced_before > 0
    ${isUnsignedDue ? unsigned : sql``}
    order by tenant_id
  `.execute(db);
  return rows.map(({ tenant_id }) => tenant_id);
}

export interface LedgerRow {
  size: number;
  frontier: Buffer;
  kept_at: string | null;
  unsequenced_before: number;
  before_at: string | null;
  before_id: string | null;
}

export interface LockedLedger extends LedgerRow {
  dropped: number;
  is_signed: boolean;
  /** By the clock of Postgres, because rows are kept from this moment on and a worker's clock may be wrong. */
  locked_at: string;
}

/** Undefined if another worker has locked it. */
export async function lockLedger(tx: Queryable, tenantId: string): Promise<LockedLedger | undefined> {
  await insertLedger(tx, { tenantId });
  return tx
    .selectFrom('ledgers')
    .select(['size', 'frontier', 'dropped', 'kept_at', 'unsequenced_before', 'before_at', 'before_id'])
    .select((eb) => [
      eb('checkpoint', 'is not', null).as('is_signed'),
      sql<string>`statement_timestamp()`.as('locked_at'),
    ])
    .where('tenant_id', '=', tenantId)
    .forUpdate()
    .skipLocked()
    .$castTo<LockedLedger>()
    .executeTakeFirst();
}

/** Late rows of a purged Tenant are kept. The key share lock makes a purge wait, because it must see the ledger. */
const insertLedger = preparedSql(
  'make_ledger',
  ({ tenantId }: { tenantId: string }) => sql`
    with tenant as (
      select id from tenants
      where id = ${tenantId} and not exists (select from ledgers where tenant_id = ${tenantId}) for key share
    )
    insert into ledgers (tenant_id, closed_at)
    select ${tenantId}::uuid, case when not exists (select from tenant) then now() end
    where not exists (select from ledgers where tenant_id = ${tenantId})
    on conflict do nothing
  `,
);

const columns = sql.join(logColumns.map((name) => sql.ref(`log.${name}`)));

export interface BatchLimits {
  mostRows: number;
  /** Limits the total of `detail` as text; the last row may exceed it, so that each batch has at least one. */
  mostBytes: number;
}

/** A compressed detail counts as this many times its stored size, so that Postgres decompresses few that do not fit. */
const countedFold = 8;

/**
 * The first rows of `found` that fit: first by the stored sizes of details, which are cheap to read, then by their
 * text.
 */
const firstThatFit = (order: RawBuilder<unknown>, mostBytes: number) => {
  const before = sql`over (order by ${order} rows between unbounded preceding and 1 preceding)`;
  const counted = sql`
    pg_column_size(detail) * case when pg_column_compression(detail) is null then 1 else ${sql.lit(countedFold)} end`;
  return sql`
    select * from (
      select *, coalesce(sum(octet_length(detail::text)) ${before}, 0) as bytes_before from (
        select *, coalesce(sum(${counted}) ${before}, 0) as counted_before from found
      ) as counted where counted_before < ${mostBytes}
    ) as read where bytes_before < ${mostBytes}`;
};

/** `isRest` is true if no further rows are found. */
export async function readRowsBefore(
  tx: Queryable,
  tenantId: string,
  { before_at, before_id }: Pick<LedgerRow, 'before_at' | 'before_id'>,
  { mostRows, mostBytes }: BatchLimits,
): Promise<{ rows: LogRow[]; isRest: boolean }> {
  const next = sql<LogRow & { found: number }>`
    with found as (
      select ${columns} from audit_log as log
      where tenant_id = ${tenantId} and leaf_version is null
        and (at, id) > (coalesce(${before_at}::timestamptz, '-infinity'), coalesce(${before_id}::uuid, '00000000-0000-0000-0000-000000000000'))
      order by at, id limit ${mostRows}
    )
    select (select count(*) from found) as found, ${columns}
    from (${firstThatFit(sql`at, id`, mostBytes)}) as log order by at, id`;
  const { rows } = await throughIndexes(tx, (tx) => next.execute(tx));
  const found = rows[0]?.found ?? 0;
  return {
    rows: rows.map(({ found: _found, ...row }) => row),
    isRest: found < mostRows && found === rows.length,
  };
}

/**
 * Call it in the transaction that adds them to the tree, so that each is added once. Rows that are in the tree already
 * are left out. An arrival that does not fit keeps its place with its other rows.
 *
 * No step joins the arrivals with the rows found, because without statistics Postgres would compare each with each. The
 * rows that fit belong to the first arrivals, so all whole arrivals are deleted, and the last one is shortened.
 */
export async function takeArrivals(
  tx: Queryable,
  tenantId: string,
  { mostRows, mostBytes }: BatchLimits,
): Promise<{ taken: number; rows: LogRow[] }> {
  // Planned each time, because a stored plan would search a month that was empty when it was made
  const next = sql<LogRow & { taken: number }>`
    with due as (
      select arrival, ids, times from (
        select arrival, ids, times, sum(cardinality(ids)) over (order by arrival) - cardinality(ids) as before
        from (
          select arrival, ids, times from audit_log_arrivals
          where tenant_id = ${tenantId} order by arrival limit ${mostRows}
        ) as next
      ) as counted where before < ${mostRows}
    ),
    due_rows as (
      select arrival, cardinality(ids) as arrived, position, each.id, each.at
      from due cross join lateral unnest(ids, times) with ordinality as each(id, at, position)
      order by arrival, position limit ${mostRows}
    ),
    found as (
      select arrival, arrived, position, ${columns} from due_rows
      left join lateral (
        select * from audit_log
        where tenant_id = ${tenantId} and at = due_rows.at and id = due_rows.id and not exists (
          select from ledger_leaves as leaf where leaf.tenant_id = ${tenantId} and leaf.log_id = due_rows.id
        )
        offset 0
      ) as log on true
    ),
    fitting as (${firstThatFit(sql`arrival, position`, mostBytes)}),
    counted as (select arrival, arrived, count(*)::int as count from fitting group by arrival, arrived),
    emptied as (
      delete from audit_log_arrivals
      where tenant_id = ${tenantId} and arrival <= (select max(arrival) from counted where count = arrived)
      returning arrival
    ),
    shortened as (
      update audit_log_arrivals
      set ids = ids[(select count from counted where count < arrived) + 1 :],
        times = times[(select count from counted where count < arrived) + 1 :]
      where tenant_id = ${tenantId} and arrival = (select arrival from counted where count < arrived)
      returning arrival
    ),
    taken as (select arrival from emptied union all select arrival from shortened)
    select (select count(*) from taken) as taken, ${columns}
    from fitting as log where (arrival in (select arrival from taken)) is true -- so it is a hash, and no join
    order by arrival, position`;
  const { rows } = await throughIndexes(tx, (tx) => next.execute(tx));
  return {
    taken: rows[0]?.taken ?? 0,
    rows: rows.filter(({ id }) => id !== null).map(({ taken: _taken, ...row }) => row),
  };
}

export interface NewLeaf {
  log_id: string;
  at: string;
  kept_at: string;
  leaf_hash: Buffer;
}

/** Lists are sent as pg would send them, without its search for characters to escape. */
export async function insertLeaves(
  tx: Queryable,
  tenantId: string,
  { start, version, leaves }: { start: number; version: number; leaves: readonly NewLeaf[] },
): Promise<void> {
  const list = (textOf: (leaf: NewLeaf) => string) => `{${leaves.map(textOf).join(',')}}`;
  await leavesInserted(tx, {
    ...{ tenantId, start, version },
    ids: list(({ log_id }) => log_id),
    times: list(({ at }) => at),
    keptTimes: list(({ kept_at }) => kept_at),
    hashes: Buffer.concat(leaves.map(({ leaf_hash }) => leaf_hash)),
  });
}

interface LeafLists {
  tenantId: string;
  start: number;
  version: number;
  ids: string;
  times: string;
  keptTimes: string;
  /** 32 bytes each. */
  hashes: Buffer;
}

const leavesInserted = preparedSql(
  'insert_leaves',
  ({ tenantId, start, version, ids, times, keptTimes, hashes }: LeafLists) => sql`
    insert into ledger_leaves (tenant_id, leaf_index, log_id, at, kept_at, leaf_version, leaf_hash)
    select ${tenantId}::uuid, ${start}::bigint + n - 1, log_id, at, kept_at, ${version}::smallint,
      substring(${hashes}::bytea from 32 * n::int - 31 for 32)
    from unnest(${ids}::uuid[], ${times}::timestamptz[], ${keptTimes}::timestamptz[])
      with ordinality as each(log_id, at, kept_at, n)
  `,
);

export async function insertNodes(
  tx: Queryable,
  tenantId: string,
  nodes: readonly { level: number; index: number; hash: Buffer }[],
): Promise<void> {
  await nodesInserted(tx, {
    tenantId,
    levels: nodes.map(({ level }) => level),
    indexes: nodes.map(({ index }) => index),
    hashes: nodes.map(({ hash }) => hash),
  });
}

interface NodeLists {
  tenantId: string;
  levels: number[];
  indexes: number[];
  hashes: Buffer[];
}

const nodesInserted = preparedSql(
  'insert_nodes',
  ({ tenantId, levels, indexes, hashes }: NodeLists) => sql`
    insert into ledger_nodes (tenant_id, level, node_index, hash)
    select ${tenantId}::uuid, * from unnest(${levels}::smallint[], ${indexes}::bigint[], ${hashes}::bytea[])
  `,
);

export async function updateLedger(
  tx: Queryable,
  tenantId: string,
  changes: LedgerRow & { checkpoint: string | null },
): Promise<void> {
  await ledgerUpdated(tx, { tenantId, ...changes });
}

const ledgerUpdated = preparedSql(
  'update_ledger',
  (row: LedgerRow & { tenantId: string; checkpoint: string | null }) => sql`
    update ledgers set size = ${row.size}, frontier = ${row.frontier}, kept_at = ${row.kept_at},
      unsequenced_before = ${row.unsequenced_before}, before_at = ${row.before_at}, before_id = ${row.before_id},
      checkpoint = ${row.checkpoint}
    where tenant_id = ${row.tenantId}
  `,
);
