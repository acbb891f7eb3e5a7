import type { Database } from '@sluice/database';
import { noteOverlooked } from '@sluice/vault';
import { byTenant } from '../by-tenant.ts';
import { deleteOldRecords } from '../idempotency-expiry/delete-old-records.ts';
import { deleteOldCounts } from '../invocation-counts/delete-old-counts.ts';

export async function sweepOverlooked(db: Database): Promise<void> {
  const tenants = await db.selectFrom('tenants').select('id').execute();
  await byTenant(
    tenants.map(({ id }) => id),
    async (tenantId) => {
      await noteOverlooked(db, tenantId);
      const records = await deleteOldRecords(db, tenantId);
      return records + (await deleteOldCounts(db, tenantId)) > 0;
    },
  );
}
