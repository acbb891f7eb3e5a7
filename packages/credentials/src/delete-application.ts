import { addToCounter, type Queryable } from '@sluice/database';
import { type RawBuilder, sql } from 'kysely';
import { notExpired } from './find-caller.ts';

const due = sql<boolean>`applications.expires_at <= clock_timestamp()`;

/**
 * Deletes an Application; the Proxies that named it name none any more. Call it in a transaction.
 * @returns the ids of those Proxies, or undefined where there was no such Application.
 */
export function deleteApplication(tx: Queryable, tenantId: string, id: string): Promise<string[] | undefined> {
  return deleteWhere(tx, tenantId, id, notExpired);
}

/** The same for an Application whose time has come by the database's clock; undefined where it has not. */
export function deleteDueApplication(tx: Queryable, tenantId: string, id: string): Promise<string[] | undefined> {
  return deleteWhere(tx, tenantId, id, due);
}

async function deleteWhere(tx: Queryable, tenantId: string, id: string, condition: RawBuilder<boolean>) {
  const deleted = await tx
    .deleteFrom('applications')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where(condition)
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
