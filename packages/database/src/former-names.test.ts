import { randomUUID } from 'node:crypto';
import { openEmptyDatabase } from '@sluice/testing';
import { migrate } from './index.ts';

test('a Tenant keeps the address that people had when they were removed, and none of those removed before the migration', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openEmptyDatabase(stack);
  await migrate(db, { upTo: '0084-response-guard' });
  const tenant_id = randomUUID();
  const [before, after] = [
    { id: randomUUID(), email: 'before@example.com' },
    { id: randomUUID(), email: 'after@example.com' },
  ];
  await db.insertInto('users').values([before, after]).execute();
  await db.insertInto('tenants').values({ id: tenant_id, owner_id: randomUUID(), name: 'T' }).execute();
  await db.insertInto('former_members').values({ tenant_id, user_id: before.id }).execute();
  const member = { tenant_id, id: randomUUID(), user_id: after.id, role: 'AUDITOR' } as const;
  await db.insertInto('members').values(member).execute();
  await migrate(db);
  await db.deleteFrom('members').where('id', '=', member.id).execute();
  await db.updateTable('users').set({ email: 'later@example.com' }).where('id', '=', after.id).execute();
  const listNames = () => db.selectFrom('former_names').select(['kind', 'id', 'name']).orderBy('kind').execute();
  expect(await listNames()).toEqual([
    { kind: 'member', id: member.id, name: after.email },
    { kind: 'user', id: after.id, name: after.email },
  ]);
  // The previous version purges a Tenant so, and knows nothing of its former names.
  await db.deleteFrom('tenants').where('id', '=', tenant_id).execute();
  expect(await listNames()).toEqual([]);
});
