import type { Database, Queryable } from '@sluice/database';
import { readFrontier } from '@sluice/ledger';
import { sql } from 'kysely';
import { type LedgerSigner, signTree } from '../ledger/sign-tree.ts';

export async function firstMonthToKeep(db: Database, days: number): Promise<string> {
  const { rows } = await sql<{ month: string }>`
    select to_char(date_trunc('month', (now() - ${days} * interval '1 day') at time zone 'UTC'), 'YYYY-MM-DD"T00:00:00Z"') as month
  `.execute(db);
  return rows[0]?.month ?? '-infinity';
}

/** Names that only rows before `keepFrom` can show. @returns how many were deleted. */
export async function dropFormerNames(db: Database, keepFrom: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from former_names where (tenant_id, kind, id, until) in (
      select tenant_id, kind, id, until from former_names where until < ${keepFrom}::timestamptz
      order by until limit ${sql.lit(limit)})
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

export async function listLedgersWithOldRows(db: Database, keepFrom: string): Promise<string[]> {
  const { rows } = await sql<{ tenant_id: string }>`
    select ledgers.tenant_id from ledgers
    join ledger_leaves as leaf on leaf.tenant_id = ledgers.tenant_id and leaf.leaf_index = ledgers.dropped
    where leaf.kept_at < ${keepFrom}::timestamptz
  `.execute(db);
  return rows.map(({ tenant_id }) => tenant_id);
}

export async function listClosedLedgers(db: Database, days: number): Promise<string[]> {
  const { rows } = await sql<{ tenant_id: string }>`
    select tenant_id from ledgers
    where closed_at <= statement_timestamp() - ${days} * interval '1 day' and closed_at is not null and size > dropped
      and not exists (select from tenants where id = tenant_id)
  `.execute(db);
  return rows.map(({ tenant_id }) => tenant_id);
}

/** Ledgers whose checkpoint does not state the number of dropped rows, because an older version signed it. */
export async function listLedgersToState(db: Database): Promise<string[]> {
  const { rows } = await sql<{ tenant_id: string }>`
    select tenant_id from ledgers
    where dropped > 0 and position(E'\\ndropped ' || dropped || E'\\n' in checkpoint) = 0
  `.execute(db);
  return rows.map(({ tenant_id }) => tenant_id);
}

/** This many leaves may remain beside the oldest kept subtree of a stored level, because they prove what follows. */
const besides = 15;

/**
 * Call it in a transaction, because the checkpoint must state how many rows are gone. The last leaves stay to prove the
 * rest.
 * @throws {Error} if a leaf is missing, because the end is then unknown.
 */
export async function giveUpRows(
  tx: Queryable,
  { tenantId, keepFrom, signer }: { tenantId: string; keepFrom: string; signer: LedgerSigner },
): Promise<void> {
  const ofTenant = sql`tenant_id = ${tenantId}`;
  const { size, frontier } = await tx
    .selectFrom('ledgers')
    .select(['size', 'frontier'])
    .where('tenant_id', '=', tenantId)
    .forUpdate() // so that the tree does not grow before its checkpoint is written
    .executeTakeFirstOrThrow();
  const dropped = await findFirstToKeep(tx, tenantId, keepFrom);
  const checkpoint = signTree(signer, { tenantId, frontier: readFrontier(size, frontier), dropped });
  await sql`update ledgers set dropped = ${dropped}, checkpoint = ${checkpoint} where ${ofTenant}`.execute(tx);
  await sql`
    with old as (
      select at, log_id from ledger_leaves where ${ofTenant}
        and leaf_index >= (select dropped - (dropped & ${sql.lit(besides)}) from ledgers where ${ofTenant})
        and leaf_index < (select dropped from ledgers where ${ofTenant})
    ), ${deletedRows(tenantId)}
    delete from audit_log_tokens as token using touched
    where token.${ofTenant} and token.token_id = touched.token_id and token.at = touched.at and token.log_id = touched.id
  `.execute(tx);
}

/** A binary search, because `kept_at` never decreases from one leaf to the next. */
async function findFirstToKeep(tx: Queryable, tenantId: string, keepFrom: string): Promise<number> {
  const { rows } = await sql<{ first: number }>`
    with recursive search(low, high) as (
      select dropped, size from ledgers where tenant_id = ${tenantId}
      union all
      select case when leaf.kept_at < ${keepFrom}::timestamptz then leaf.leaf_index + 1 else low end,
        case when leaf.kept_at < ${keepFrom}::timestamptz then high else leaf.leaf_index end
      from search join ledger_leaves as leaf on leaf.tenant_id = ${tenantId} and leaf.leaf_index = (low + high) / 2
      where low < high
    )
    select low as first from search where low = high
  `.execute(tx);
  if (!rows[0]) throw new Error('A leaf of the ledger is missing');
  return rows[0].first;
}

/**
 * Postgres' code for the function's short lock timeout, which exists because inserts of rows queue behind that lock.
 */
const lockNotAvailable = '55P03';

/** Drops only a month that ended before this moment. Returns false if there is none, or it is still in use. */
export async function dropOldestMonth(db: Database, keepFrom: string): Promise<boolean> {
  try {
    const { rows } = await sql<{ dropped: string | null }>`
      select drop_oldest_audit_log_month((${keepFrom}::timestamptz at time zone 'UTC')::date) as dropped
    `.execute(db);
    return typeof rows[0]?.dropped === 'string';
  } catch (error) {
    if ((error as { code?: unknown }).code === lockNotAvailable) return false;
    throw error;
  }
}

export async function listLedgersToPrune(db: Database): Promise<string[]> {
  const { rows } = await sql<{ tenant_id: string }>`
    select tenant_id from ledgers where dropped > ${sql.lit(besides)} and exists (
      select from ledger_leaves as leaf
      where leaf.tenant_id = ledgers.tenant_id and leaf.leaf_index < dropped - (dropped & ${sql.lit(besides)})
    )
  `.execute(db);
  return rows.map(({ tenant_id }) => tenant_id);
}

/** Also deletes rows in kept months, which exist if a clock was ahead or the row was late. @returns how many leaves. */
export async function pruneLeaves(db: Database, tenantId: string, limit: number): Promise<number> {
  const { rows } = await sql<{ pruned: number }>`
    with old as (
      select leaf_index, at, log_id from ledger_leaves where tenant_id = ${tenantId}
        and leaf_index < (select dropped - (dropped & ${sql.lit(besides)}) from ledgers where tenant_id = ${tenantId})
      order by leaf_index limit ${limit}
    ),
    leaves as (
      delete from ledger_leaves as leaf using old where leaf.tenant_id = ${tenantId} and leaf.leaf_index = old.leaf_index
    ),
    ${deletedRows(tenantId)},
    tokens as (
      delete from audit_log_tokens as token using touched
      where token.tenant_id = ${tenantId} and token.token_id = touched.token_id
        and token.at = touched.at and token.log_id = touched.id
    )
    select count(*)::int as pruned from old
  `.execute(db);
  return rows[0]?.pruned ?? 0;
}

/** Each level keeps fewer than 16 subtrees of dropped leaves, which prove what follows. @returns how many are gone. */
export async function pruneNodes(db: Database, tenantId: string, limit: number): Promise<number> {
  const { rows } = await sql<{ pruned: number }>`
    with kept as (
      select level, (ledgers.dropped >> level) - ((ledgers.dropped >> level) & ${sql.lit(besides)}) as first
      from ledgers, generate_series(4, 48, 4) as level where tenant_id = ${tenantId}
    ),
    old as (
      select level, node_index from kept cross join lateral (
        select node_index from ledger_nodes as node
        where node.tenant_id = ${tenantId} and node.level = kept.level and node.node_index < kept.first
        order by node_index limit ${limit}
      ) as node limit ${limit}
    ),
    gone as (
      delete from ledger_nodes as node using old
      where node.tenant_id = ${tenantId} and node.level = old.level and node.node_index = old.node_index
    )
    select count(*)::int as pruned from old
  `.execute(db);
  return rows[0]?.pruned ?? 0;
}

const deletedRows = (tenantId: string) => sql`
  gone as (
    delete from audit_log as log using old
    where log.tenant_id = ${tenantId} and log.at = old.at and log.id = old.log_id
    returning log.at, log.id, log.entity_type, log.entity_id, log.detail
  ),
  touched as (
    select gone.at, gone.id, token_id from gone
    cross join lateral audit_log_token_ids(gone.entity_type, gone.entity_id, gone.detail) as token_id
  )`;
