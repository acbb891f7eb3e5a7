import type { Generated } from 'kysely';

/** The outbox: changes that are committed and not yet confirmed by every process that caches. */
export interface ChangesTable {
  tenant_id: string;
  /** One for each transaction, also where it changed things of several Tenants. */
  id: string;
  /** What caches must drop. */
  tags: string[];
  created_at: Generated<string>;
}
