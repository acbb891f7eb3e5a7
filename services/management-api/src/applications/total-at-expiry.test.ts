import { addToCounter } from '@sluice/database';
import { afterStatement, useStack } from '@sluice/testing';
import { shareTestManagement } from '../testing/test-management.ts';
import { listApplications } from './application.queries.ts';

const api = useStack(() => shareTestManagement());

/** As the worker does it. */
async function deleteExpired(tenantId: string): Promise<void> {
  await api.current.db.transaction().execute(async (tx) => {
    const expired = new Date().toISOString();
    const { numDeletedRows } = await tx
      .deleteFrom('applications')
      .where('tenant_id', '=', tenantId)
      .where('expires_at', '<=', expired)
      .executeTakeFirstOrThrow();
    await addToCounter(tx, tenantId, 'applications', -Number(numDeletedRows));
  });
}

test.each([1, 2, 3, 4])('the total counts no expired Application twice, deleted after statement %i', async (number) => {
  const { db, anotherTenant, application } = api.current;
  const { tenant_id, management_key: key } = await anotherTenant('T');
  for (let i = 0; i < 3; i++) {
    const { id } = await application({ expires_at: '2999-01-01T00:00:00.000Z' }, { key });
    const expires_at = new Date(Date.now() - 1000).toISOString();
    await db.updateTable('applications').set({ expires_at }).where('id', '=', id).execute();
  }
  const interrupted = afterStatement(db, number, () => deleteExpired(tenant_id));
  const page = { page: 1, size: 20, hold: () => undefined };
  expect(await listApplications(interrupted, tenant_id, { ids: [] }, page)).toMatchObject({ total: 1 });
});
