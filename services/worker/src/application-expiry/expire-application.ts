import { recordChange } from '@sluice/audit';
import { deleteDueApplication } from '@sluice/credentials';
import type { Context } from '../context.ts';
import { findExpiry, listDueApplications } from './application-expiry.queries.ts';

/**
 * Deletes an Application whose time has come. It counts as gone from that moment on, by the row; this only clears it
 * away. Doing it twice, or in two workers at once, deletes it once and writes one audit row.
 */
export async function expireApplication(tenantId: string, id: string, { db, announce, log }: Context): Promise<void> {
  const proxyIds = await db.transaction().execute(async (tx) => {
    const proxies = await deleteDueApplication(tx, tenantId, id);
    if (!proxies) return undefined;
    const act = { tenantId, actorId: null, traceId: null };
    await recordChange(tx, act, { operation: 'application.expired', entityType: 'application', entityId: id });
    return proxies;
  });
  if (!proxyIds) return;
  await announce({ tenantId, tags: [`application:${id}`, ...proxyIds.map((proxyId) => `proxy:${proxyId}`)] });
  log.info({ tenant_id: tenantId, application_id: id }, 'application expired');
}

/** The alarm of one Application. It may ring a moment early by the database's clock: then it is tried again. */
export async function handleExpiryJob(
  { tenant_id, application_id }: { tenant_id: string; application_id: string },
  context: Context,
): Promise<void> {
  await expireApplication(tenant_id, application_id, context);
  const expiry = await findExpiry(context.db, tenant_id, application_id);
  if (expiry) throw new Error(`application ${application_id} is not due before ${expiry}`);
}

/** Every due Application whose alarm did not ring. */
export async function sweepDueApplications(context: Context): Promise<void> {
  for (;;) {
    const due = await listDueApplications(context.db);
    for (const { tenant_id, id } of due) await expireApplication(tenant_id, id, context);
    if (due.length === 0) return;
  }
}
