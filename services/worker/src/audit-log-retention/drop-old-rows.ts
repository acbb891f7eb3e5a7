import type { Database } from '@sluice/database';
import { separately } from '../ledger/separately.ts';
import type { LedgerSigner } from '../ledger/sign-tree.ts';
import {
  dropFormerNames,
  dropOldestMonth,
  firstMonthToKeep,
  giveUpRows,
  listClosedLedgers,
  listLedgersToPrune,
  listLedgersToState,
  listLedgersWithOldRows,
  pruneLeaves,
  pruneNodes,
} from './retention.queries.ts';

const batchSize = 2000;

export interface RetentionOptions extends LedgerSigner {
  db: Database;
  /** Rows are kept at least this many days, and at most a month longer; for ever if undefined. */
  retentionDays: number | undefined;
  /** For the log of a purged Tenant. */
  keepClosedDays: number;
}

/** The next round repeats what was left undone. @throws {Error} naming a failed ledger, after all others. */
export async function dropOldRows({ db, retentionDays, keepClosedDays, ...signer }: RetentionOptions): Promise<void> {
  const ledgers = separately(db);
  const giveUp = (tenantId: string, keepFrom: string) =>
    ledgers.attempt(tenantId, () => db.transaction().execute((tx) => giveUpRows(tx, { tenantId, keepFrom, signer })));
  if (retentionDays !== undefined) {
    const keepFrom = await firstMonthToKeep(db, retentionDays);
    for (const tenantId of await listLedgersWithOldRows(db, keepFrom)) await giveUp(tenantId, keepFrom);
    while (await dropOldestMonth(db, keepFrom)); // a month that is in use is left to the next round
    while ((await dropFormerNames(db, keepFrom, batchSize)) === batchSize);
  }
  for (const tenantId of await listClosedLedgers(db, keepClosedDays)) await giveUp(tenantId, 'infinity');
  if (signer.privateKey) for (const tenantId of await listLedgersToState(db)) await giveUp(tenantId, '-infinity');
  for (const tenantId of await listLedgersToPrune(db)) await ledgers.attempt(tenantId, () => prune(db, tenantId));
  ledgers.throwFailures();
}

/** Leaves are deleted last, because the next round continues while there are any. */
async function prune(db: Database, tenantId: string): Promise<void> {
  while ((await pruneNodes(db, tenantId, batchSize)) === batchSize);
  while ((await pruneLeaves(db, tenantId, batchSize)) === batchSize);
}
