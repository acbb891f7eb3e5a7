import { type Change, recordChange } from '@sluice/audit';
import { actorTypeOf } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import type { Acting } from '@sluice/http-api';

/**
 * Writes the audit row of a change, and checks the caller: call it in the transaction, after everything that waits. The
 * check takes no lock, because by such locks the holder of a stolen key could delay its revocation for ever. A caller
 * that changes itself is checked by `lockTarget`, before its own change.
 * @throws {ServiceError} `unauthenticated` for a closed Tenant, and as `look`.
 */
export async function recordAct(tx: Queryable, { caller, traceId, look }: Acting, change: Change): Promise<void> {
  await recordOwnAct(tx, { caller, traceId }, change);
  if (change.entityId !== caller.id) await look(tx);
}

/** Without the check, for a change of the caller's own rights, which must check before the change. */
export async function recordOwnAct(
  tx: Queryable,
  { caller, traceId }: Pick<Acting, 'caller' | 'traceId'>,
  change: Change,
): Promise<void> {
  const { id: actorId, tenantId } = caller;
  await recordChange(tx, { tenantId, actorId, actorType: actorTypeOf(caller), traceId }, change);
}
