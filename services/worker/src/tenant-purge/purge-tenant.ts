import { recordClosing } from '@sluice/audit';
import { purgeTokens } from '@sluice/vault';
import { byTenant } from '../by-tenant.ts';
import type { Context } from '../context.ts';
import { deleteTenantRow, listClosedTenants, purgedTables, purgeRows } from './tenant-purge.queries.ts';

/** Deletes the Tenant's own row last, so that an interrupted purge can continue. Audit rows and open Tenants stay. */
export async function purgeTenant(tenantId: string, { db, log }: Pick<Context, 'db' | 'log'>): Promise<void> {
  const closed = await listClosedTenants(db, tenantId);
  if (closed.length === 0) return;
  await recordClosing(db, tenantId, null); // because the process that closed it may have died before it recorded this
  let purged = 0;
  const inBatches = async (table: string, deleteBatch: () => Promise<number>) => {
    for (let deleted = await deleteBatch(); deleted > 0; deleted = await deleteBatch()) {
      purged += deleted;
      log.info({ tenant_id: tenantId, table, purged_rows: purged }, 'purging a deleted tenant');
    }
  };
  await inBatches('tokens', () => purgeTokens(db, tenantId));
  for (const table of purgedTables) await inBatches(table, () => purgeRows(db, table, tenantId));
  if (!(await deleteTenantRow(db, tenantId))) return;
  log.info({ tenant_id: tenantId, purged_rows: purged }, 'a deleted tenant is purged');
}

export async function sweepClosedTenants(context: Pick<Context, 'db' | 'log'>): Promise<void> {
  await byTenant(await listClosedTenants(context.db), async (id) => {
    await purgeTenant(id, context);
    return false;
  });
}
