import { randomBytes, randomUUID } from 'node:crypto';
import { openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import type { Database } from './index.ts';

/** The previous version, which serves meanwhile, knows only the key in `applications.key_hash`. */
const database = useStack((stack) => openTestDatabase(stack));
const tenantId = randomUUID();
const grants = { type: 'private' as const, permissions: ['token:read'], rules: '[]' };

async function createAsBefore(db: Database): Promise<{ id: string; hash: Buffer }> {
  const id = randomUUID();
  const hash = randomBytes(32);
  await db
    .insertInto('applications')
    .values({ tenant_id: tenantId, id, name: 'A', ...grants, key_hash: hash })
    .execute();
  return { id, hash };
}

function keysOf(db: Database, id: string) {
  return db
    .selectFrom('application_keys')
    .select(['version', 'key_hash'])
    .where('tenant_id', '=', tenantId)
    .where('application_id', '=', id)
    .orderBy('version')
    .execute();
}

test('an Application that the previous version creates has its key in the new table', async () => {
  const { db } = database.current;
  const { id, hash } = await createAsBefore(db);
  expect(await keysOf(db, id)).toEqual([{ version: 1, key_hash: hash }]);
});

test('a key that the previous version regenerates replaces all of them', async () => {
  const { db } = database.current;
  const { id } = await createAsBefore(db);
  const second = { tenant_id: tenantId, application_id: id, version: 2, key_hash: randomBytes(32) };
  await db.insertInto('application_keys').values(second).execute();
  await db.updateTable('applications').set({ last_key_version: 2 }).where('id', '=', id).execute();
  const hash = randomBytes(32);
  await db.updateTable('applications').set({ key_hash: hash }).where('id', '=', id).execute();
  expect(await keysOf(db, id)).toEqual([{ version: 3, key_hash: hash }]);
});

test('other changes of the previous version leave the keys alone', async () => {
  const { db } = database.current;
  const { id, hash } = await createAsBefore(db);
  await db.updateTable('applications').set({ name: 'B', key_hash: hash }).where('id', '=', id).execute();
  await db.updateTable('applications').set({ name: 'C' }).where('id', '=', id).execute();
  expect(await keysOf(db, id)).toEqual([{ version: 1, key_hash: hash }]);
});

test('keys go with their Application, whoever deletes it; no key is without one', async () => {
  const { db } = database.current;
  const { id } = await createAsBefore(db);
  await db.deleteFrom('applications').where('id', '=', id).execute();
  expect(await keysOf(db, id)).toEqual([]);
  const orphan = { tenant_id: tenantId, application_id: randomUUID(), version: 1, key_hash: randomBytes(32) };
  await expect(db.insertInto('application_keys').values(orphan).execute()).rejects.toThrow(/foreign key/);
});

test('keys that the previous version makes have no name and no last characters; their uses go with them, too', async () => {
  const { db } = database.current;
  const { id } = await createAsBefore(db);
  const of = { tenant_id: tenantId, application_id: id };
  const key = await db
    .selectFrom('application_keys')
    .select(['id', 'name', 'last_four'])
    .where('application_id', '=', id)
    .executeTakeFirstOrThrow();
  expect([key.name, key.last_four]).toEqual([null, null]);
  await db
    .insertInto('key_uses')
    .values({ ...of, key_id: key.id, last_used_at: '2026-01-01T00:00:00.000Z' })
    .execute();
  await db
    .updateTable('applications')
    .set({ key_hash: randomBytes(32) })
    .where('id', '=', id)
    .execute();
  expect(await db.selectFrom('key_uses').select('key_id').execute()).toEqual([]);
});

test('without the trigger a key of the previous version would not be known: the tests can fail', async () => {
  const { db } = database.current;
  await db
    .transaction()
    .execute(async (tx) => {
      await sql`alter table applications disable trigger keep_application_keys`.execute(tx);
      const { id } = await createAsBefore(tx);
      expect(await keysOf(tx, id)).toEqual([]);
      throw new Error('roll back');
    })
    .catch((error: Error) => expect(error.message).toBe('roll back'));
});
