import { addToCounter, type Queryable } from '@sluice/database';
import { notExpired } from './find-caller.ts';

/** Proxies that named it name none any more. Needs a transaction. @returns their ids; undefined for an unknown id. */
export async function deleteApplication(tx: Queryable, tenantId: string, id: string): Promise<string[] | undefined> {
  const deleted = await tx
    .deleteFrom('applications')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where(notExpired)
    .executeTakeFirstOrThrow();
  if (deleted.numDeletedRows === 0n) return undefined;
  await addToCounter(tx, tenantId, 'applications', -1);
  const proxies = await tx
    .updateTable('proxies')
    .set({ application_id: null })
    .where('tenant_id', '=', tenantId)
    .where('application_id', '=', id)
    .returning('id')
    .execute();
  return proxies.map((proxy) => proxy.id);
}
