import type { Generated } from 'kysely';

/** The rows of the audit log that touched a token. */
export interface AuditLogTokensTable {
  tenant_id: string;
  token_id: string;
  at: string;
  log_id: string;
}

/** Rows of the audit log that the ledger has not sequenced yet, one entry for each statement and Tenant. */
export interface AuditLogArrivalsTable {
  tenant_id: string;
  arrival: Generated<string>;
  ids: string[];
  times: string[];
  arrived_at: Generated<string>;
}

/** The ledger of a Tenant. */
export interface LedgersTable {
  tenant_id: string;
  /** Number of leaves. */
  size: Generated<number>;
  /** Hashes of the complete subtrees over all leaves, from left to right, 32 bytes each. */
  frontier: Generated<Buffer>;
  /** Number of leaves at the beginning whose rows retention has dropped. */
  dropped: Generated<number>;
  /** The latest `kept_at` of a leaf. */
  kept_at: string | null;
  /** Number of rows from before the ledger that are not sequenced yet, and the last one that is. */
  unsequenced_before: Generated<number>;
  before_at: string | null;
  before_id: string | null;
  /** The newest signed checkpoint. */
  checkpoint: string | null;
  /** The size of the newest checkpoint that the witness has. */
  witnessed_size: Generated<number>;
  /** When the Tenant was closed. */
  closed_at: string | null;
}

export interface LedgerLeavesTable {
  tenant_id: string;
  leaf_index: number;
  log_id: string;
  /** Time of the row, by which it is found. */
  at: string;
  /** Start of its retention: the row's time, but never before that of an earlier leaf and never in the future. */
  kept_at: string;
  leaf_version: number;
  leaf_hash: Buffer;
}

/** Complete subtrees of 2^level leaves, at each fourth level. */
export interface LedgerNodesTable {
  tenant_id: string;
  level: number;
  node_index: number;
  hash: Buffer;
}
