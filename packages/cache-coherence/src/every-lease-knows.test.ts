import { randomUUID } from 'node:crypto';
import { type MigrationName, newestMigration } from '@sluice/database';
import { openTestDatabase, useStack } from '@sluice/testing';
import { requireEveryLeaseKnows } from './every-lease-knows.ts';
import { openTestLease } from './testing/test-lease.ts';

const database = useStack(openTestDatabase);
beforeEach(() => database.current.db.deleteFrom('cache_leases').execute());

const since = '0080-what-leases-know';
const set = { member: 'use', stored: undefined, wanted: { max_uses: 1 }, since } as const;

async function addLease(service: string, knows: string | null, seconds = 60): Promise<void> {
  const expires_at = new Date(Date.now() + seconds * 1000).toISOString();
  await database.current.db
    .insertInto('cache_leases')
    .values({ holder_id: randomUUID(), service, expires_at, mailbox: '[]', knows })
    .execute();
}

const require = (...restrictions: Parameters<typeof requireEveryLeaseKnows>[1]) =>
  database.current.db.transaction().execute((tx) => requireEveryLeaseKnows(tx, restrictions));

test('a process of a version before is in the way of what it would ignore, and named by its service', async () => {
  await addLease('proxy-gateway', null);
  await addLease('proxy-gateway', '0079-before');
  await addLease('token-vault', null);
  await addLease('token-vault', since);
  await expect(require(set)).rejects.toMatchObject({
    code: 'unavailable',
    detail: expect.stringMatching(/^use cannot be set yet.*\(2 of proxy-gateway, 1 of token-vault\)$/),
  });
});

test('the control: processes that know the member, later ones and expired leases are not', async () => {
  await using stack = new AsyncDisposableStack();
  await openTestLease(database.current.url, stack).lease.start();
  await addLease('token-vault', since);
  await addLease('token-vault', '9999-later');
  await addLease('proxy-gateway', null, -1);
  await require(set);
});

test.each<[string, object]>([
  ['taken away', { stored: { max_uses: 1 }, wanted: null }],
  ['left out', { stored: { max_uses: 1 }, wanted: undefined }],
  ['written as it is stored', { stored: { max_uses: 1 }, wanted: { max_uses: 1 } }],
])('a member that is %s is not refused', async (_, change) => {
  await addLease('proxy-gateway', null);
  await require({ ...set, ...change });
});

test('of several members those that change are named, and the newest migration counts', async () => {
  await addLease('proxy-gateway', '0080-what-leases-know');
  const other = { ...set, member: 'other', wanted: undefined };
  await require(set, other);
  await addLease('proxy-gateway', '0077-names-and-uses-of-keys');
  await require({ ...set, since: '0077-names-and-uses-of-keys' }, other);
  await expect(require(set, other, { ...set, member: 'third' })).rejects.toThrow(/^use, third cannot/);
});

test.each(['9999-later', '0080', '0000-earlier'])(
  '%s is no migration of this build, and refused for any change',
  async (name) => {
    const unknown = { ...set, since: name as MigrationName };
    await expect(require(unknown)).rejects.toThrow(`use restricts since ${name}, which is no migration`);
    await expect(require({ ...unknown, wanted: undefined })).rejects.toThrow('which is no migration');
  },
);

test('a lease says which migration its process knows', async () => {
  await using stack = new AsyncDisposableStack();
  await openTestLease(database.current.url, stack).lease.start();
  const { db } = database.current;
  expect(await db.selectFrom('cache_leases').select('knows').execute()).toEqual([{ knows: newestMigration }]);
});
