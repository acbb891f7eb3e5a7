import type { Queryable } from '@sluice/database';
import type { Acting } from '@sluice/http-api';
import { applicationNotFound } from './application.not-found.ts';
import { lockApplication } from './application.queries.ts';

/**
 * The Application that is to be changed, locked. Its caller is looked at after the wait for it, because the change before
 * may have revoked the key. A caller that changes itself stays as it is from then on, until it changes itself.
 * @throws {ServiceError} `not_found`, and as `checkCallerAgain`.
 */
export async function lockTarget(tx: Queryable, { caller, checkCallerAgain }: Acting, id: string) {
  const application = await lockApplication(tx, caller.tenantId, id);
  await checkCallerAgain(tx);
  if (!application) throw applicationNotFound(id);
  return application;
}
