import type { Generated } from 'kysely';

export interface AuditLogTokensTable {
  tenant_id: string;
  token_id: string;
  at: string;
  log_id: string;
}

/** Rows that are not in the ledger yet: one entry for each statement and Tenant. */
export interface AuditLogArrivalsTable {
  tenant_id: string;
  arrival: Generated<string>;
  ids: string[];
  times: string[];
  arrived_at: Generated<string>;
}

export interface LedgersTable {
  tenant_id: string;
  size: Generated<number>;
  /** Hashes of the complete subtrees over all leaves, from left to right, 32 bytes each. */
  frontier: Generated<Buffer>;
  /** Leaves at the beginning whose rows retention has dropped. */
  dropped: Generated<number>;
  kept_at: string | null;
  /** Rows from before the ledger that are not in it yet, and the last one that is. */
  unsequenced_before: Generated<number>;
  before_at: string | null;
  before_id: string | null;
  checkpoint: string | null;
  witnessed_size: Generated<number>;
  closed_at: string | null;
}

export interface LedgerLeavesTable {
  tenant_id: string;
  leaf_index: number;
  log_id: string;
  at: string;
  /** Retention starts here: at the row's time, but never before that of an earlier leaf and never in the future. */
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
