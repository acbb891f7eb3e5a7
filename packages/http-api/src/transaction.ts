import { changeRows as changeInTurns, type Database, type LockedRows, type Queryable } from '@sluice/database';
import type { OperationInput, PendingChange } from './operation.ts';

/** What a transaction gives: the response as the handler returns it, and the change that is to be confirmed. */
export interface Changed {
  answer?: unknown;
  change?: PendingChange;
}

type Settling = Partial<Pick<OperationInput<undefined, undefined, undefined>, 'settle'>>;

/**
 * A transaction of an operation. It also stores the response under the request's idempotency key, so that a repeated
 * request never acts twice. Nothing is stored if `work` returns undefined.
 */
export function transaction<T extends Changed | undefined>(
  db: Database,
  input: Settling,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(settling(input, work));
}

/** The same, once no other transaction of this process changes these rows. @throws {TooBusyError} after twenty seconds. */
export function changeRows<T extends Changed | undefined>(
  db: Database,
  { settle, ...locked }: LockedRows & Settling,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return changeInTurns(db, locked, settling({ settle }, work));
}

function settling<T extends Changed | undefined>({ settle }: Settling, work: (tx: Queryable) => Promise<T>) {
  return async (tx: Queryable): Promise<T> => {
    const changed = await work(tx);
    if (changed) await settle?.(tx, changed.answer, changed.change);
    return changed;
  };
}
