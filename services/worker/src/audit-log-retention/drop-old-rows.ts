import type { Database } from '@sluice/database';
import { separately } from '../ledger/separately.ts';
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
 * round: first the ledgers give the rows up, then months are dropped, then subtrees and leaves go that prove nothing more.
 * @throws {Error} that names a ledger which could not give its rows up or be pruned, once all others have.
 */
export async function dropOldRows({ db, retentionDays, keepClosedDays }: RetentionOptions): Promise<void> {
  const ledgers = separately(db);
  const giveUp = (tenantId: string, keepFrom: string) =>
    ledgers.attempt(tenantId, () => db.transaction().execute((tx) => giveUpRows(tx, tenantId, keepFrom)));
  if (retentionDays !== undefined) {
    const keepFrom = await firstMonthToKeep(db, retentionDays);
    for (const tenantId of await listLedgersWithOldRows(db, keepFrom)) await giveUp(tenantId, keepFrom);
    while (await dropOldestMonth(db, keepFrom)); // a month that another one needs just now is left to the next round
  }
  for (const tenantId of await listClosedLedgers(db, keepClosedDays)) await giveUp(tenantId, 'infinity');
  for (const tenantId of await listLedgersToPrune(db)) await ledgers.attempt(tenantId, () => prune(db, tenantId));
  ledgers.throwFailures();
}

/** Leaves last: while there are any, the next round goes on. */
async function prune(db: Database, tenantId: string): Promise<void> {
  while ((await pruneNodes(db, tenantId, batchSize)) === batchSize);
  while ((await pruneLeaves(db, tenantId, batchSize)) === batchSize);
}
