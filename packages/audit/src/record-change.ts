import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';
import { type ActorType, type EntityType, messageOf, type VerbOf } from './log-entry.ts';
import { tenantClosed } from './tenant-closed.ts';

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

/** `message` and `detail` contain names of members, counts and the like, but no value. */
export type Change = { [Type in EntityType]: { entityType: Type; operation: VerbOf<Type> } }[EntityType] & {
  entityId: string;
  message?: string;
  detail?: Record<string, unknown>;
};

/**
 * Call it in the transaction of the change. A closed Tenant gets no more rows, so that its closing is its last row.
 * Waits for a Tenant that is being closed.
 * @throws {ServiceError} `unauthenticated` for a closed Tenant, whose keys are refused.
 */
export async function recordChange(tx: Queryable, act: Act, change: Change): Promise<void> {
  const message = change.message ?? messageOf(change.entityType, change.operation);
  const detail = change.detail ? JSON.stringify(change.detail) : null;
  const { numAffectedRows } = await sql`
    insert into audit_log (
      tenant_id, actor_id, actor_type, trace_id, operation, entity_type, entity_id, message, detail
    )
    select id, ${act.actorId}::uuid, ${act.actorType}, ${act.traceId}, ${change.operation}, ${change.entityType},
      ${change.entityId}, ${message}, ${detail}::jsonb
    from tenants where id = ${act.tenantId}::uuid and closed_at is null for key share
  `.execute(tx);
  if (numAffectedRows === 0n) throw tenantClosed();
}
