import type { Generated } from 'kysely';

export interface TenantsTable {
  id: string;
  owner_id: string;
  name: string;
  fingerprint_tokens: Generated<boolean>;
  deduplicate_tokens: Generated<boolean>;
  included_monthly_active_tokens: Generated<number>;
  /** From then on every key is refused, and the worker purges the rows. */
  closed_at: string | null;
  created_by: string | null;
  created_at: Generated<string>;
  modified_by: string | null;
  modified_at: string | null;
}
