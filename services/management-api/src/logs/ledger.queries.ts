import type { Database, Queryable } from '@sluice/database';
import { joinSubtrees, type Range, type Subtree, subtreesIn } from '@sluice/ledger';
import { sql } from 'kysely';

/** The worker stores subtrees of 2^4, 2^8 … leaves; the leaves are the first level. */
const storedLevels = 4;

/** Reads in one snapshot, because the worker adds rows and prunes old hashes concurrently. */
export function inOneMoment<T>(db: Database, read: (tx: Queryable) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').execute(read);
}

export function findLedger(db: Queryable, tenantId: string) {
  return db
    .selectFrom('ledgers')
    .select(['size', 'dropped', 'checkpoint'])
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
}

export function findLeaf(db: Queryable, tenantId: string, logId: string) {
  return db
    .selectFrom('ledger_leaves')
    .select(['leaf_index', 'leaf_hash'])
    .where('tenant_id', '=', tenantId)
    .where('log_id', '=', logId)
    .executeTakeFirst();
}

/** Each range needs at most 16 stored hashes for each level of the tree. */
export async function hashRanges(db: Queryable, tenantId: string, ranges: readonly Range[]): Promise<Buffer[]> {
  const stored = [...new Set(ranges.flatMap(subtreesIn).flatMap(storedBelow).map(nameOf))].map(
    (name) => name.split('/').map(Number) as [number, number],
  );
  const levels = stored.map(([level]) => level);
  const indexes = stored.map(([, index]) => index);
  const { rows } = await sql<{ level: number; node_index: number; hash: Buffer }>`
    select wanted.level, wanted.node_index, coalesce(leaf.leaf_hash, node.hash) as hash
    from unnest(${levels}::smallint[], ${indexes}::bigint[]) as wanted(level, node_index)
    left join lateral (
      select leaf_hash from ledger_leaves
      where wanted.level = 0 and tenant_id = ${tenantId} and leaf_index = wanted.node_index offset 0
    ) as leaf on true
    left join lateral (
      select hash from ledger_nodes
      where tenant_id = ${tenantId} and level = wanted.level and node_index = wanted.node_index offset 0
    ) as node on true
  `.execute(db);
  const known = new Map(rows.map(({ level, node_index, hash }) => [`${level}/${node_index}`, hash]));
  const hashOf = (subtree: Subtree): Buffer =>
    joinSubtreesEvenly(storedBelow(subtree).map((one) => known.get(nameOf(one))));
  return ranges.map((range) => joinSubtrees(subtreesIn(range).map(hashOf)));
}

const nameOf = ({ level, index }: Subtree) => `${level}/${index}`;

function storedBelow({ level, index }: Subtree): Subtree[] {
  const stored = level - (level % storedLevels);
  const count = 2 ** (level - stored);
  return Array.from({ length: count }, (_, i) => ({ level: stored, index: index * count + i }));
}

/** For equal subtrees, a power of two in number. Folding them from the right would give another tree. */
function joinSubtreesEvenly(hashes: readonly (Buffer | undefined)[]): Buffer {
  const [first] = hashes;
  if (first === undefined) throw new Error('A hash of the ledger is missing');
  if (hashes.length === 1) return first;
  const middle = hashes.length / 2;
  return joinSubtrees([joinSubtreesEvenly(hashes.slice(0, middle)), joinSubtreesEvenly(hashes.slice(middle))]);
}
