import { randomUUID } from 'node:crypto';
import { eventually, openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import type { RecordedChange } from './change.ts';
import type { ChangeWriter } from './change-writer.ts';
import { relayForgottenChanges } from './relay-changes.ts';
import { localBus, openHolder, openWriter, tag } from './testing/test-processes.ts';

const database = useStack(openTestDatabase);

beforeEach(async () => {
  await database.current.db.deleteFrom('cache_leases').execute();
  await database.current.db.deleteFrom('changes').execute();
});

async function forget(tagsByTenant: Record<string, string[]>, secondsAgo = 4): Promise<string> {
  const id = randomUUID();
  for (const [tenantId, tags] of Object.entries(tagsByTenant)) {
    await sql`insert into changes (tenant_id, id, tags, created_at)
      values (${tenantId}, ${id}, ${tags}, clock_timestamp() - ${secondsAgo} * interval '1 second')`.execute(
      database.current.db,
    );
  }
  return id;
}

const idsInOutbox = async () =>
  (await database.current.db.selectFrom('changes').select('id').execute()).map(({ id }) => id);

test('a change whose writer died is confirmed and removed; one that is fresh is left to its writer', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = database.current;
  const holder = await openHolder(database.current, stack);
  const changes = openWriter(database.current, stack);
  await holder.read('old');
  await forget({ [randomUUID()]: [tag] });
  const fresh = await forget({ [randomUUID()]: ['proxy:2'] }, 0);
  expect(await relayForgottenChanges(db, changes)).toBe(1);
  expect(await holder.read('new')).toBe('new');
  await eventually('removed', async () => (await idsInOutbox()).length === 1);
  expect(await idsInOutbox()).toEqual([fresh]);
});

test('a change to several Tenants is confirmed for all of them, also by a holder that hears by its mailbox', async () => {
  await using stack = new AsyncDisposableStack();
  const holder = await openHolder(database.current, stack, { bus: localBus() });
  const changes = openWriter(database.current, stack, { bus: localBus() });
  const tags = Array.from({ length: 5 }, (_, n) => `application:${n}`);
  const read = (key: string, state: string) =>
    holder.cache.get(key, async () => ({ value: { value: state }, tags: [key], sizeBytes: 10 }));
  for (const key of tags) await read(key, 'old');
  await forget(Object.fromEntries(tags.map((one) => [randomUUID(), [one]])));
  expect(await relayForgottenChanges(database.current.db, changes)).toBe(5);
  for (const key of tags) expect(await read(key, 'new')).toEqual({ value: 'new' });
  await eventually('removed', async () => (await idsInOutbox()).length === 0);
});

test('two relays at once do no harm', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = database.current;
  const holder = await openHolder(database.current, stack, { bus: localBus() });
  const relays = [1, 2].map(() => openWriter(database.current, stack, { bus: localBus() }));
  await holder.read('old');
  for (let n = 0; n < 20; n++) await forget({ [randomUUID()]: [n === 7 ? tag : `proxy:of-${n}`] });
  const [one] = relays as [ChangeWriter, ChangeWriter];
  expect(await Promise.all([...relays, one].map((changes) => relayForgottenChanges(db, changes)))).toEqual([
    20, 20, 20,
  ]);
  expect(await holder.read('new')).toBe('new');
  await eventually('removed', async () => (await idsInOutbox()).length === 0);
});

test('one that cannot be confirmed does not keep the others from it, and is told of', async () => {
  const { db } = database.current;
  const stubborn = await forget({ [randomUUID()]: [tag] }, 9);
  const others = [await forget({ [randomUUID()]: [tag] }), await forget({ [randomUUID()]: [tag] })];
  const tried: string[] = [];
  const changes = {
    async barrier({ id }: RecordedChange) {
      await new Promise((resolve) => setTimeout(resolve, id === stubborn ? 0 : 50));
      if (id === stubborn) throw new Error('not confirmed');
      tried.push(id);
      return { changeId: id, holders: 0, waitedMs: 0 };
    },
  };
  await expect(relayForgottenChanges(db, changes as ChangeWriter)).rejects.toThrow('not confirmed');
  expect(tried.sort()).toEqual(others.sort());
});

test('with nothing forgotten nothing happens', async () => {
  await using stack = new AsyncDisposableStack();
  expect(await relayForgottenChanges(database.current.db, openWriter(database.current, stack))).toBe(0);
});
