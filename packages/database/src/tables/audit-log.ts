import type { Generated, JSONColumnType } from 'kysely';

/** Never holds a value. */
export interface AuditLogTable {
  tenant_id: string;
  id: Generated<string>;
  at: Generated<string>;
  actor_id: string | null;
  /** Null, like `message`, in rows of earlier versions; then `operation` is a name such as `proxy.invoked`. */
  actor_type: string | null;
  operation: string;
  entity_type: string;
  entity_id: string;
  message: string | null;
  trace_id: string | null;
  /** Version of the form of its leaf in the ledger; null in rows from before the ledger. */
  leaf_version: Generated<number | null>;
  detail: JSONColumnType<Record<string, unknown>> | null;
}
