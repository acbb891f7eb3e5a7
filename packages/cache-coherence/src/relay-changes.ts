import type { Database } from '@sluice/database';
import { listForgottenChanges } from './change.queries.ts';
import type { ChangeWriter } from './change-writer.ts';

/** Longer than a lease, so that a living writer has confirmed its change by then. */
const forgottenAfterMs = 3000;

/** Confirms changes whose writers died or gave up. @throws {ServiceError} if one stays unconfirmed; all are tried. */
export async function relayForgottenChanges(db: Database, changes: ChangeWriter): Promise<number> {
  const forgotten = await listForgottenChanges(db, forgottenAfterMs);
  const results = await Promise.allSettled(forgotten.map((change) => changes.barrier(change)));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return forgotten.length;
}
