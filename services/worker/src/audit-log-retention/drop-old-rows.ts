import type { Database } from '@sluice/database';
import {
  dropOldestMonth,
  firstMonthToKeep,
  giveUpRows,
  listClosedLedgers,
  listLedgersToPrune,
  listLedgersWithOldRows,
  pruneLeaves,
  pruneNodes,
} from './retention.queries.ts';

const batchSize = 2000;

export interface RetentionOptions {
  db: Database;
  /** Rows stay at least so many days, and a month longer at most; for ever where it is undefined. */
  retentionDays: number | undefined;
  /** Of the log of a Tenant that is purged. */
  keepClosedDays: number;
}

/**
 * Drops what of the audit log has been kept long enough. Each step is whole in itself and is found undone by the next
 * round: first the ledgers give the rows up, then months are dropped, then leaves and subtrees go that prove nothing more.
 */
export async function dropOldRows({ db, retentionDays, keepClosedDays }: RetentionOptions): Promise<void> {
  const giveUp = (tenantId: string, keepFrom: string) =>
    db.transaction().execute((tx) => giveUpRows(tx, tenantId, keepFrom));
  if (retentionDays !== undefined) {
    const keepFrom = await firstMonthToKeep(db, retentionDays);
    for (const tenantId of await listLedgersWithOldRows(db, keepFrom)) await giveUp(tenantId, keepFrom);
    while (await dropOldestMonth(db, keepFrom)); // a month that another one needs just now is left to the next round
  }
  for (const tenantId of await listClosedLedgers(db, keepClosedDays)) await giveUp(tenantId, 'infinity');
  for (const tenantId of await listLedgersToPrune(db)) {
    while ((await pruneLeaves(db, tenantId, batchSize)) === batchSize);
    await pruneNodes(db, tenantId);
  }
}
