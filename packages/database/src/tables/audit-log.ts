import type { Generated, JSONColumnType } from 'kysely';

/** Who did what to which thing, when, under which trace id. Never a value. */
export interface AuditLogTable {
  tenant_id: string;
  id: Generated<string>;
  at: Generated<string>;
  /** The Application, session or user that acted; null for the command line and for time itself. */
  actor_id: string | null;
  /** Null, like `message`, in rows of versions before; then `operation` is a name such as `proxy.invoked`. */
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
