import { addToCounter, type Queryable } from '@sluice/database';
import { notExpired } from './find-caller.ts';

/**
 * Proxies that named it act as none any more. It stays the one that they named, so that nobody else's rights take its
 * place, also where a version before, which does not know that column, had named it. Needs a transaction.
 * @returns the ids of these Proxies; undefined for an unknown id.
 */
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
    .set({ application_id: null, named_application_id: id })
    .where('tenant_id', '=', tenantId)
    .where('application_id', '=', id)
    .returning('id')
    .execute();
  return proxies.map((proxy) => proxy.id);
}
