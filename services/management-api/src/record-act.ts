import { type Change, recordChange } from '@sluice/audit';
import { actorTypeOf } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import type { Acting } from '@sluice/http-api';

/**
 * Writes the audit row of a change, and looks at its caller: call it in the transaction, after all that waits.
 * The look takes no lock, because the holder of a stolen key could keep its revocation waiting by such locks for ever.
 * A caller that changes itself is looked at by `lockTarget`, before its own change.
 * @throws {ServiceError} `unauthenticated` for a closed Tenant, and as `look`.
 */
export async function recordAct(tx: Queryable, { caller, traceId, look }: Acting, change: Change): Promise<void> {
  await recordOwnAct(tx, { caller, traceId }, change);
  if (change.entityId !== caller.id) await look(tx);
}

/** Without the look, for a change after which the caller may have other rights, and which has looked before. */
export async function recordOwnAct(
  tx: Queryable,
  { caller, traceId }: Pick<Acting, 'caller' | 'traceId'>,
  change: Change,
): Promise<void> {
  const { id: actorId, tenantId } = caller;
  await recordChange(tx, { tenantId, actorId, actorType: actorTypeOf(caller), traceId }, change);
}
