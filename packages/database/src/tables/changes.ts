import type { Generated } from 'kysely';

/** The outbox: committed changes that some caching process has not confirmed yet. */
export interface ChangesTable {
  tenant_id: string;
  /** The same in all rows of one transaction, which may have changed several Tenants. */
  id: string;
  tags: string[];
  created_at: Generated<string>;
}
