import type { Queryable } from '@sluice/database';

/** Who acts, under which trace. `actorId` is null for the command line and for what time itself does. */
export interface Act {
  tenantId: string;
  actorId: string | null;
  traceId: string | null;
}

export interface Change {
  /** For example `application.created`. */
  operation: string;
  entityType: string;
  entityId: string;
  /** What else helps to understand it: names of members, counts. Never a value. */
  detail?: Record<string, unknown>;
}

/** Writes the audit row of a change, in the transaction of the change. */
export async function recordChange(tx: Queryable, act: Act, change: Change): Promise<void> {
  await tx
    .insertInto('audit_log')
    .values({
      tenant_id: act.tenantId,
      actor_id: act.actorId,
      trace_id: act.traceId,
      operation: change.operation,
      entity_type: change.entityType,
      entity_id: change.entityId,
      detail: change.detail ? JSON.stringify(change.detail) : null,
    })
    .execute();
}
