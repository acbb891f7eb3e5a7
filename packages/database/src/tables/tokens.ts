import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from 'kysely';

export interface TokensTable {
  tenant_id: string;
  id: string;
  type: string;
  /** JSON text of `data`, encrypted; the ciphertext names the version of its data key. */
  data_ciphertext: Buffer;
  /** The same text with the card's `cvc`, which `data_ciphertext` does not contain; null once the cvc is due. */
  cvc_ciphertext: Generated<Buffer | null>;
  cvc_due_at: Generated<string | null>;
  mask: JSONColumnType<object> | null;
  /** As they were sent; compared in canonical form. */
  containers: string[];
  metadata: JSONColumnType<Record<string, string>>;
  search_indexes: Generated<string[]>;
  /** Keyed hashes of what the search indexes evaluated to when the token was written. */
  search_hashes: Generated<string[]>;
  /** Computed by Postgres and used in conditions only. */
  search_terms: GeneratedAlways<string[]>;
  fingerprint: string | null;
  fingerprint_expression: string | null;
  expires_at: string | null;
  /** What the token may be used for, see `TokenUse`; null for everything. */
  use: ColumnType<object | null, string | null | undefined, string | null>;
  /** Invocations that were counted against its `max_uses`. */
  uses: Generated<number>;
  /** Read by the version before only, which needs 0. */
  blind_data_bytes: Generated<number>;
  /** Bytes that callers without `token:read` have merged into the metadata since one with it last wrote it. */
  blind_metadata_bytes: Generated<number>;
  /** First day of the UTC month in which the token was last created, read or used. */
  active_month: string;
  created_by: string | null;
  created_at: Generated<string>;
  modified_by: string | null;
  modified_at: string | null;
}
