import type { Generated } from 'kysely';

/** The outbox: committed changes that not every caching process has confirmed yet. */
export interface ChangesTable {
  tenant_id: string;
  /** The same in all rows of one transaction, which may have changed rows of several Tenants. */
  id: string;
  /** What caches must drop. */
  tags: string[];
  created_at: Generated<string>;
}
