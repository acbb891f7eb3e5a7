import { randomUUID } from 'node:crypto';
import { openEmptyDatabase } from '@sluice/testing';
import { sql } from 'kysely';
import { type Database, migrate } from './index.ts';

/** As the previous version does it, which serves beside the new one. */
async function createTenant(db: Database, ownerId = randomUUID()) {
  const id = randomUUID();
  await db.insertInto('tenants').values({ id, owner_id: ownerId, name: 'T' }).execute();
  return { id, ownerId };
}

const membersOf = (db: Database, tenantId: string) =>
  db.selectFrom('members').select(['user_id', 'role', 'source']).where('tenant_id', '=', tenantId).execute();

test('every Tenant has its owner as OWNER: those from before, and those that the previous version makes', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openEmptyDatabase(stack);
  await migrate(db, { upTo: '0051-ids-of-pages' });
  const shared = randomUUID();
  const before = [await createTenant(db), await createTenant(db, shared), await createTenant(db, shared)];
  const closed = await createTenant(db);
  await db.updateTable('tenants').set({ closed_at: new Date().toISOString() }).where('id', '=', closed.id).execute();

  let isDone = false;
  const during: { id: string; ownerId: string }[] = [];
  const previousVersion = async () => {
    while (!isDone) during.push(await createTenant(db, shared));
  };
  const writing = previousVersion();
  await migrate(db);
  isDone = true;
  await writing;
  const after = [await createTenant(db), await createTenant(db, shared)];

  expect(during.length).toBeGreaterThan(0);
  for (const { id, ownerId } of [...before, ...during, ...after]) {
    expect(await membersOf(db, id)).toEqual([{ user_id: ownerId, role: 'OWNER', source: 'person' }]);
  }
  expect(await membersOf(db, closed.id)).toEqual([]);
  const people = await db.selectFrom('users').select('id').where('id', '=', shared).execute();
  expect(people).toHaveLength(1);
});

test('the previous version, which knows neither, changes, closes and purges Tenants, and deletes keys', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openEmptyDatabase(stack);
  await migrate(db);
  const { id, ownerId } = await createTenant(db);
  const application = { tenant_id: id, id: randomUUID(), name: 'A', type: 'management' as const, permissions: [] };
  await db
    .insertInto('applications')
    .values({ ...application, rules: '[]', key_hash: Buffer.from('a') })
    .execute();
  const { id: keyId } = await db.selectFrom('application_keys').select('id').executeTakeFirstOrThrow();
  const expires_at = new Date(Date.now() + 60_000).toISOString();
  const signIn = (secret: string) => ({ tenant_id: id, secret_hash: Buffer.from(secret), expires_at });
  await db
    .insertInto('sign_ins')
    .values({ ...signIn('a'), user_id: ownerId })
    .execute();
  await db
    .insertInto('sign_ins')
    .values({ ...signIn('b'), application_id: application.id, key_id: keyId })
    .execute();
  await db
    .insertInto('sign_in_links')
    .values({ ...signIn('c'), user_id: ownerId })
    .execute();
  await db
    .insertInto('invitations')
    .values({ ...signIn('d'), email: 'a@example.com', role: 'ADMIN' })
    .execute();
  await db.insertInto('former_members').values({ tenant_id: id, user_id: ownerId }).execute();

  await db.updateTable('tenants').set({ name: 'U', closed_at: expires_at }).where('id', '=', id).execute();
  await db.deleteFrom('applications').where('id', '=', application.id).execute();
  expect(await db.selectFrom('sign_ins').select('user_id').execute()).toEqual([{ user_id: ownerId }]);
  await db.deleteFrom('tenants').where('id', '=', id).execute();
  for (const table of ['members', 'former_members', 'invitations', 'sign_ins', 'sign_in_links'] as const) {
    expect(await db.selectFrom(table).select('tenant_id').execute()).toEqual([]);
  }
});

test('a sign-in is of a member or of a key, and of one of them only', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openEmptyDatabase(stack);
  await migrate(db);
  const { id, ownerId } = await createTenant(db);
  const [other, keyId] = [randomUUID(), randomUUID()];
  const row = { tenant_id: id, secret_hash: Buffer.from('a'), expires_at: new Date().toISOString() };
  for (const who of [
    {},
    { user_id: other },
    { user_id: ownerId, key_id: keyId },
    { application_id: other, key_id: keyId },
  ]) {
    await expect(
      db
        .insertInto('sign_ins')
        .values({ ...row, ...who })
        .execute(),
    ).rejects.toThrow(/constraint/);
  }
  expect((await sql`select from sign_ins`.execute(db)).rows).toEqual([]);
});
