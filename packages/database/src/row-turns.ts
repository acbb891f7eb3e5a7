import { FairTurns } from '@sluice/fair-turns';
import type { Transaction } from 'kysely';
import type { Database, Tables } from './database.ts';
import { whenCallerLeft } from './tenant-work.ts';
import { TooBusyError } from './too-busy-error.ts';

/** Many changes of one row take long, because they run one after another; only their own Tenant waits. */
const waitMs = 20_000;

export interface LockedRows {
  tenantId: string;
  /** Any names, such as `application/5b0c…`; every user of the row must use the same. */
  rows: readonly string[];
}

const turnsOf = new WeakMap<Database, FairTurns>();

/**
 * Runs `work`, a transaction that locks these rows of a Tenant, once no other transaction of this process uses any of
 * them. A transaction that waits for a lock in Postgres occupies a connection, so a hundred changes of one row would
 * use all connections. Names are sorted, so that two calls cannot deadlock; `work` must not call this again. Other
 * processes still wait for the lock itself. A caller that leaves also leaves the queue. @throws {TooBusyError} after
 * twenty seconds.
 */
export async function inRowTurns<T>(db: Database, { tenantId, rows }: LockedRows, work: () => Promise<T>): Promise<T> {
  const turns = turnsOf.get(db) ?? new FairTurns({ perKey: 1, waiting: { forMs: waitMs, refusal: tooManyWait } });
  turnsOf.set(db, turns);
  using taken = new DisposableStack();
  for (const row of [...new Set(rows)].sort()) {
    let leave: (reason: unknown) => void = () => {};
    const turn = turns.take(`${tenantId}/${row}`, (leaveQueue) => {
      leave = leaveQueue;
    });
    taken.defer(turn instanceof Promise ? await unlessLeft(turn, leave) : turn);
  }
  return await work();
}

async function unlessLeft<T>(turn: Promise<T>, leave: (reason: unknown) => void): Promise<T> {
  using _watching = whenCallerLeft(leave);
  return await turn;
}

/** A transaction {@link inRowTurns}. */
export function changeRows<T>(
  db: Database,
  locked: LockedRows,
  work: (tx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return inRowTurns(db, locked, () => db.transaction().execute(work));
}

function tooManyWait(): TooBusyError {
  return new TooBusyError('row_changes', 'Too many requests change the same at once; try again later');
}
