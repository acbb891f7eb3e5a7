import { type LogRow, logColumns } from '@sluice/audit';
import { type Database, preparedSql, type Queryable } from '@sluice/database';
import { sql } from 'kysely';

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

/** Undefined where another worker has locked it. */
export async function lockLedger(
  tx: Queryable,
  tenantId: string,
): Promise<(LedgerRow & { is_signed: boolean }) | undefined> {
  await makeLedger(tx, { tenantId });
  return tx
    .selectFrom('ledgers')
    .select(['size', 'frontier', 'kept_at', 'unsequenced_before', 'before_at', 'before_id'])
    .select((eb) => eb('checkpoint', 'is not', null).as('is_signed'))
    .where('tenant_id', '=', tenantId)
    .forUpdate()
    .skipLocked()
    .$castTo<LedgerRow & { is_signed: boolean }>()
    .executeTakeFirst();
}

/** Late rows of a purged Tenant are kept. The key share lock makes a purge wait, because it must see the ledger. */
const makeLedger = preparedSql(
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

export async function readRowsBefore(
  tx: Queryable,
  tenantId: string,
  { before_at, before_id, limit }: { before_at: string | null; before_id: string | null; limit: number },
): Promise<LogRow[]> {
  const { rows } = await sql<LogRow>`
    select ${columns} from audit_log as log
    where tenant_id = ${tenantId} and leaf_version is null
      and (at, id) > (coalesce(${before_at}::timestamptz, '-infinity'), coalesce(${before_id}::uuid, '00000000-0000-0000-0000-000000000000'))
    order by at, id limit ${limit}
  `.execute(tx);
  return rows;
}

/** Call it in the transaction that sequences them, so that each is sequenced once. Rows in the tree are left out. */
export async function takeArrivals(
  tx: Queryable,
  tenantId: string,
  limit: number,
): Promise<{ taken: number; rows: LogRow[] }> {
  // Planned each time, because a kept plan would go through a month that was empty when it was made
  const { rows } = await sql<LogRow & { taken: number }>`
    with due as (
      select arrival from (
        select arrival, sum(cardinality(ids)) over (order by arrival) - cardinality(ids) as before
        from (
          select arrival, ids from audit_log_arrivals where tenant_id = ${tenantId} order by arrival limit ${limit}
        ) as next
      ) as counted where before < ${limit}
    ),
    taken as (
      delete from audit_log_arrivals using due
      where audit_log_arrivals.tenant_id = ${tenantId} and audit_log_arrivals.arrival = due.arrival
      returning audit_log_arrivals.arrival, ids, times
    )
    select (select count(*) from taken) as taken, ${columns}
    from taken
    cross join lateral unnest(taken.ids, taken.times) with ordinality as each(id, at, position)
    left join lateral (
      select * from audit_log
      where tenant_id = ${tenantId} and at = each.at and id = each.id
        and not exists (select from ledger_leaves as leaf where leaf.tenant_id = ${tenantId} and leaf.log_id = each.id)
      offset 0
    ) as log on true
    order by taken.arrival, each.position
  `.execute(tx);
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

export interface Unwitnessed {
  tenantId: string;
  size: number;
  checkpoint: string;
}

export async function listUnwitnessed(db: Database): Promise<Unwitnessed[]> {
  const rows = await db
    .selectFrom('ledgers')
    .select(['tenant_id', 'size', 'checkpoint'])
    .where('checkpoint', 'is not', null)
    .whereRef('size', '>', 'witnessed_size')
    .orderBy('tenant_id')
    .execute();
  return rows.map(({ tenant_id: tenantId, size, checkpoint }) => ({ tenantId, size, checkpoint: checkpoint ?? '' }));
}

export async function noteWitnessed(db: Database, tenantId: string, size: number): Promise<void> {
  await db
    .updateTable('ledgers')
    .set({ witnessed_size: size })
    .where('tenant_id', '=', tenantId)
    .where('witnessed_size', '<', size)
    .execute();
}
