import { randomUUID } from 'node:crypto';
import { openEmptyDatabase } from '@sluice/testing';
import { migrate } from './index.ts';

test('people who were removed before the migration keep their e-mail address in open Tenants, until the Tenant goes', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openEmptyDatabase(stack);
  await migrate(db, { upTo: '0084-response-guard' });
  const [open, closed] = [randomUUID(), randomUUID()];
  const removed = { id: randomUUID(), email: 'ada@example.com' };
  await db.insertInto('users').values(removed).execute();
  for (const id of [open, closed]) {
    await db.insertInto('tenants').values({ id, owner_id: randomUUID(), name: 'T' }).execute();
    await db.insertInto('former_members').values({ tenant_id: id, user_id: removed.id }).execute();
  }
  await db.updateTable('tenants').set({ closed_at: new Date().toISOString() }).where('id', '=', closed).execute();
  await migrate(db);
  const listNames = () => db.selectFrom('former_names').select(['tenant_id', 'kind', 'id', 'name']).execute();
  expect(await listNames()).toEqual([{ tenant_id: open, kind: 'user', id: removed.id, name: removed.email }]);
  // The previous version purges a Tenant so, and knows nothing of its former names.
  await db.deleteFrom('tenants').where('id', '=', open).execute();
  expect(await listNames()).toEqual([]);
});
