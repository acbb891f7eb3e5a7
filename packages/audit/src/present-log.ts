import { type ActorType, type EntityType, messageOf, type Verb } from './log-entry.ts';

export interface LogRow {
  id: string;
  tenant_id: string;
  at: string;
  actor_id: string | null;
  actor_type: string | null;
  entity_type: string;
  entity_id: string;
  operation: string;
  message: string | null;
  trace_id: string | null;
  detail: Record<string, unknown> | null;
}

export const logColumns = [
  'id',
  'tenant_id',
  'at',
  'actor_id',
  'actor_type',
  'entity_type',
  'entity_id',
  'operation',
  'message',
  'trace_id',
  'detail',
] as const;

export interface Log {
  id: string;
  tenant_id: string;
  actor_id?: string;
  actor_type: ActorType;
  entity_type: EntityType;
  entity_id: string;
  operation: Verb;
  message: string;
  created_at: string;
  trace_id?: string;
  detail?: Record<string, unknown>;
}

/** Operations as versions before 0030 wrote them. */
const former: Readonly<Record<string, Verb>> = {
  'application.created': 'create',
  'application.updated': 'update',
  'application.key_regenerated': 'regenerate',
  'application.key_created': 'update',
  'application.key_deleted': 'update',
  'application.key_expired': 'update',
  'application.deleted': 'delete',
  'application.expired': 'expire',
  'proxy.created': 'create',
  'proxy.updated': 'update',
  'proxy.deleted': 'delete',
  'proxy.invoked': 'use',
  'tenant.created': 'create',
  'tenant.updated': 'update',
  'tenant.data_keys_rotated': 'update',
  'tenant.deleted': 'delete',
  'token.created': 'create',
  'token.updated': 'update',
  'token.read': 'read',
  'token.detokenized': 'read',
  'token.cvc_removed': 'update',
  'token.deleted': 'delete',
  'token.expired': 'expire',
};

export function storedOperations(entityType: EntityType, verb: Verb): string[] {
  const before = Object.entries(former).filter(([name, is]) => is === verb && name.startsWith(`${entityType}.`));
  return [verb, ...before.map(([name]) => name)];
}

/** The ledger hashes this form, so changing it needs a new `leaf_version`; older rows keep the old form. */
export function presentLog(row: LogRow): Log {
  const verb = former[row.operation] ?? (row.operation as Verb);
  const entityType = row.entity_type as EntityType;
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    ...(row.actor_id !== null && { actor_id: row.actor_id }),
    actor_type: (row.actor_type ?? (row.actor_id === null ? 'system' : 'application')) as ActorType,
    entity_type: entityType,
    entity_id: row.entity_id,
    operation: verb,
    message: row.message ?? messageOf(entityType, verb),
    created_at: row.at,
    ...(row.trace_id !== null && { trace_id: row.trace_id }),
    ...(row.detail !== null && { detail: row.detail }),
  };
}
