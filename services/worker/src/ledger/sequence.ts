import { type LogRow, presentLog } from '@sluice/audit';
import type { Database, Queryable } from '@sluice/database';
import { addLeaf, type CompleteNode, type Frontier, leafHash, leafVersion, readFrontier } from '@sluice/ledger';
import {
  type BatchLimits,
  insertLeaves,
  insertNodes,
  type LedgerRow,
  type LockedLedger,
  listDueTenants,
  lockLedger,
  type NewLeaf,
  readRowsBefore,
  takeArrivals,
  updateLedger,
} from './ledger.queries.ts';
import { separately } from './separately.ts';
import { type LedgerSigner, signTree } from './sign-tree.ts';

/** A Tenant chooses the size of its rows, and the worker has a parsed batch of them in memory. */
export const batchLimits: BatchLimits = { mostRows: 2000, mostBytes: 8 * 1024 * 1024 };
/** Batches of a Tenant in one round, so that a round ends and reports even if rows never stop coming. */
export const mostPasses = 40;
/** Other subtrees are computed from at most 16 stored ones of 2^4, 2^8 … leaves. */
const storedLevels = 4;

export interface SequenceOptions extends LedgerSigner {
  db: Database;
  signal?: AbortSignal;
}

/**
 * Each pass adds one batch for every due Tenant, so that none waits for the many rows of another. Workers may run it
 * concurrently. @returns how many rows. @throws {Error} naming a ledger that could not grow, once all others have.
 */
export async function sequenceDue(options: SequenceOptions): Promise<number> {
  const { db, privateKey, signal } = options;
  const ledgers = separately(db);
  let total = 0;
  for (let pass = 0; pass < mostPasses; pass++) {
    const due = await listDueTenants(db, { isUnsignedDue: privateKey !== undefined });
    let hasGrown = false;
    for (const tenantId of due) {
      if (signal?.aborted) return total;
      const batch = await ledgers.attempt(tenantId, () => sequenceBatch(tenantId, options));
      total += batch?.sequenced ?? 0;
      hasGrown ||= batch?.hasMoved ?? false;
    }
    if (!hasGrown) break;
  }
  ledgers.throwFailures();
  return total;
}

/** One transaction. @returns whether anything was done, so that another pass may find more. */
async function sequenceBatch(
  tenantId: string,
  { db, ...signer }: SequenceOptions,
): Promise<{ sequenced: number; hasMoved: boolean }> {
  return db.transaction().execute(async (tx) => {
    const ledger = await lockLedger(tx, tenantId);
    if (!ledger) return { sequenced: 0, hasMoved: false }; // another worker has locked it
    const { rows, hasMoved, position } = await nextRows(tx, tenantId, ledger);
    const isUnsigned = signer.privateKey !== undefined && ledger.size > 0 && !ledger.is_signed;
    if (rows.length === 0 && position.unsequenced_before === ledger.unsequenced_before && !isUnsigned) {
      return { sequenced: 0, hasMoved }; // arrivals whose rows are gone
    }
    const grown = grow(rows, ledger);
    if (rows.length > 0)
      await insertLeaves(tx, tenantId, { start: ledger.size, version: leafVersion, leaves: grown.leaves });
    if (grown.nodes.length > 0) await insertNodes(tx, tenantId, grown.nodes);
    const { frontier } = grown;
    await updateLedger(tx, tenantId, {
      ...position,
      size: frontier.size,
      frontier: Buffer.concat(frontier.hashes),
      kept_at: grown.keptAt,
      checkpoint: signTree(signer, { tenantId, frontier, dropped: ledger.dropped }),
    });
    return { sequenced: rows.length, hasMoved: true };
  });
}

type Position = Pick<LedgerRow, 'unsequenced_before' | 'before_at' | 'before_id'>;

async function nextRows(
  tx: Queryable,
  tenantId: string,
  { unsequenced_before, before_at, before_id }: LedgerRow,
): Promise<{ rows: LogRow[]; hasMoved: boolean; position: Position }> {
  if (unsequenced_before === 0) {
    const { taken, rows } = await takeArrivals(tx, tenantId, batchLimits);
    return { rows, hasMoved: taken > 0, position: { unsequenced_before, before_at, before_id } };
  }
  const { rows, isRest } = await readRowsBefore(tx, tenantId, { before_at, before_id }, batchLimits);
  const last = rows.at(-1);
  const left = isRest ? 0 : Math.max(1, unsequenced_before - rows.length);
  return {
    rows,
    hasMoved: true,
    position: { unsequenced_before: left, before_at: last?.at ?? before_at, before_id: last?.id ?? before_id },
  };
}

function grow(rows: readonly LogRow[], { size, frontier: bytes, kept_at, locked_at }: LockedLedger) {
  let frontier: Frontier = readFrontier(size, bytes);
  let keptAt = kept_at;
  const leaves: NewLeaf[] = [];
  const nodes: CompleteNode[] = [];
  const note = (node: CompleteNode) => {
    if (node.level > 0 && node.level % storedLevels === 0) nodes.push(node);
  };
  for (const row of rows) {
    const since = row.at < locked_at ? row.at : locked_at;
    keptAt = keptAt !== null && keptAt > since ? keptAt : since;
    const hash = leafHash(presentLog(row), leafVersion);
    leaves.push({ log_id: row.id, at: row.at, kept_at: keptAt, leaf_hash: hash });
    frontier = addLeaf(frontier, hash, note);
  }
  return { frontier, leaves, nodes, keptAt };
}
