import type { Database } from '@sluice/database';
import { noteOverlooked } from '@sluice/vault';
import { byTenant } from '../by-tenant.ts';
import { deleteOldRecords } from '../idempotency-expiry/delete-old-records.ts';

/**
 * Goes through all Tenants, notes tokens that are due but were never noted, and deletes kept answers that are old
 * enough.
 */
export async function sweepOverlooked(db: Database): Promise<void> {
  const tenants = await db.selectFrom('tenants').select('id').execute();
  await byTenant(
    tenants.map(({ id }) => id),
    async (tenantId) => {
      await noteOverlooked(db, tenantId);
      return (await deleteOldRecords(db, tenantId)) > 0;
    },
  );
}
