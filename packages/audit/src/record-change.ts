import type { Queryable } from '@sluice/database';
import { type ActorType, type EntityType, messageOf, type Verb } from './log-entry.ts';

export interface Act {
  tenantId: string;
  /** Null where `actorType` is `system`. */
  actorId: string | null;
  actorType: ActorType;
  traceId: string | null;
}

export function systemAct(tenantId: string): Act {
  return { tenantId, actorId: null, actorType: 'system', traceId: null };
}

/** `message` and `detail` hold names of members, counts and the like, and never a value. */
export interface Change {
  operation: Verb;
  entityType: EntityType;
  entityId: string;
  message?: string;
  detail?: Record<string, unknown>;
}

/** Call it in the transaction of the change. */
export async function recordChange(tx: Queryable, act: Act, change: Change): Promise<void> {
  await tx
    .insertInto('audit_log')
    .values({
      tenant_id: act.tenantId,
      actor_id: act.actorId,
      actor_type: act.actorType,
      trace_id: act.traceId,
      operation: change.operation,
      entity_type: change.entityType,
      entity_id: change.entityId,
      message: change.message ?? messageOf(change.entityType, change.operation),
      detail: change.detail ? JSON.stringify(change.detail) : null,
    })
    .execute();
}
