import { type Change, recordChange } from '@sluice/audit';
import type { Queryable } from '@sluice/database';
import type { Acting } from '@sluice/http-api';

/**
 * Writes the audit row of a change, and looks at its caller once more: call it in the transaction, after all that waits.
 * The look takes no lock, because the holder of a stolen key could keep its revocation waiting by such locks for ever.
 * A caller that changes itself is looked at by `lockTarget`, before its own change.
 * @throws {ServiceError} `unauthenticated` for a closed Tenant, and as `checkCallerAgain`.
 */
export async function recordAct(
  tx: Queryable,
  { caller, traceId, checkCallerAgain }: Acting,
  change: Change,
): Promise<void> {
  const { id, tenantId, type } = caller;
  const actorType = type === 'session' ? 'session' : 'application';
  await recordChange(tx, { tenantId, actorId: id, actorType, traceId }, change);
  if (change.entityId !== id) await checkCallerAgain(tx);
}
