import type { Caller } from '@sluice/credentials';
import type { LockedRows, Queryable } from '@sluice/database';
import type { Acting } from '@sluice/http-api';
import { applicationNotFound } from './application.not-found.ts';
import { lockApplication } from './application.queries.ts';

/** The row of the Application that a transaction with {@link lockTarget} locks. */
export function rowOf({ tenantId }: Caller, id: string): LockedRows {
  return { tenantId, rows: [`application/${id}`] };
}

/**
 * Locks the Application that is to be changed, and then checks the caller, because the change that held the lock before
 * may have revoked the key. The row lock also protects the caller when it is its own target: its rights cannot change
 * until this transaction ends.
 * @throws {ServiceError} `not_found`, and as `look`.
 */
export async function lockTarget(tx: Queryable, { caller, look }: Acting, id: string) {
  const application = await lockApplication(tx, caller.tenantId, id);
  await look(tx);
  if (!application) throw applicationNotFound(id);
  return application;
}
