import { eventually, openTestDatabase, startChaosProxy, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { mailOf, openTestLease, post } from './testing/test-lease.ts';

const database = useStack(openTestDatabase);

beforeEach(() => database.current.db.deleteFrom('cache_leases').execute());

test('what it finds in its mailbox it handles, once, and takes out', async () => {
  await using stack = new AsyncDisposableStack();
  const { db, url } = database.current;
  const changes: unknown[] = [];
  const { lease, events } = openTestLease(url, stack, (change) => changes.push(change));
  await lease.start();
  await post(db, lease, 'a', 'b');
  await eventually('handled', () => changes.length > 1);
  await eventually('taken out', async () => (await mailOf(db, lease)).length === 0);
  expect(changes).toEqual([
    { id: 'a', tags: ['tag-of-a'] },
    { id: 'b', tags: ['tag-of-b'] },
  ]);
  expect(events).toHaveLength(3);
});

test('a lease that ran out serves only after its mail was handled', async () => {
  await using stack = new AsyncDisposableStack();
  const { db, url } = database.current;
  const door = await startChaosProxy(url, stack);
  const { lease, events } = openTestLease(door.url, stack);
  await lease.start();
  await door.shut();
  await eventually('does not serve', () => !lease.isValid());
  await post(db, lease, 'a');
  await door.open();
  await eventually('serves', () => lease.isValid());
  expect(events).toEqual([
    { what: 'lost', valid: false },
    { what: 'a', valid: false },
  ]);
});

test('what could not be handled stays, and the lease is not renewed by it', async () => {
  await using stack = new AsyncDisposableStack();
  const { db, url } = database.current;
  let isBroken = true;
  const { lease, events } = openTestLease(url, stack, ({ id }) => {
    if (id === 'b' && isBroken) throw new Error('cannot drop');
  });
  await lease.start();
  await post(db, lease, 'a', 'b', 'c');
  const { renewals } = lease.counts;
  await eventually('does not serve', () => !lease.isValid());
  expect(lease.counts.renewals).toBeLessThanOrEqual(renewals + 1); // one may have been on its way
  expect(await mailOf(db, lease)).toEqual(expect.arrayContaining(['b', 'c']));
  isBroken = false;
  await eventually('serves', () => lease.isValid());
  await eventually('taken out', async () => (await mailOf(db, lease)).length === 0);
  expect(new Set(events.map(({ what }) => what))).toEqual(new Set(['lost', 'a', 'b', 'c']));
  expect(lease.counts.losses).toBe(0);
});

test('mail that comes while other mail is taken out is not lost', async () => {
  await using stack = new AsyncDisposableStack();
  const { db, url } = database.current;
  const ids = Array.from({ length: 200 }, (_, n) => `change-${n}`);
  const handled: string[] = [];
  const { lease } = openTestLease(url, stack, ({ id }) => handled.push(id));
  await lease.start();
  for (let n = 0; n < ids.length; n += 10) {
    await Promise.all(ids.slice(n, n + 10).map((id) => post(db, lease, id)));
    await sql`select pg_sleep(0.02)`.execute(db);
  }
  await eventually('handled', () => handled.length >= ids.length);
  expect(handled.sort()).toEqual(ids.sort());
  await eventually('taken out', async () => (await mailOf(db, lease)).length === 0);
});

test('it goes on saying what it has handled until it is heard, and does not handle it again', async () => {
  await using stack = new AsyncDisposableStack();
  const { db, url } = database.current;
  const door = await startChaosProxy(url, stack);
  let shut: Promise<void> | undefined;
  const { lease, events } = openTestLease(door.url, stack, () => {
    shut = door.shut();
  });
  await lease.start();
  await post(db, lease, 'a');
  await eventually('handled', () => shut !== undefined);
  await shut;
  await eventually('does not get through', () => lease.counts.failures > 1);
  expect(await mailOf(db, lease)).toEqual(['a']);
  await door.open();
  await eventually('taken out', async () => (await mailOf(db, lease)).length === 0);
  expect(events.map(({ what }) => what)).toEqual(['lost', 'a']);
});

test('mail whose delivery was lost on the way is delivered again', async () => {
  await using stack = new AsyncDisposableStack();
  const { db, url } = database.current;
  const door = await startChaosProxy(url, stack);
  const { lease, events } = openTestLease(door.url, stack);
  await lease.start();
  const release = door.stall('to-client');
  await post(db, lease, 'a');
  const { failures } = lease.counts;
  await eventually('the renewal has no answer', () => lease.counts.failures > failures);
  expect(await mailOf(db, lease)).toEqual(['a']);
  await door.shut();
  release();
  await door.open();
  await eventually('taken out', async () => (await mailOf(db, lease)).length === 0);
  expect(events.map(({ what }) => what)).toEqual(['lost', 'a']);
});
