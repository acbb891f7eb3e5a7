import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, openTestDatabase, startChaosProxy, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import type { HeldLease } from './held-lease.ts';
import { leaseMs, renewLease } from './lease.queries.ts';
import { idOf, listRows, openTestLease } from './testing/test-lease.ts';

const database = useStack(openTestDatabase);
const longestMs = leaseMs - 200;

beforeEach(() => database.current.db.deleteFrom('cache_leases').execute());

test('it registers with an empty cache, and serves from then on', async () => {
  await using stack = new AsyncDisposableStack();
  const { lease, events } = openTestLease(database.current.url, stack);
  expect(lease.isValid()).toBe(false);
  expect(lease.mayHaveCome(0)).toBe(true);
  await lease.start();
  expect(events).toEqual([{ what: 'lost', valid: false }]);
  expect(lease.isValid()).toBe(true);
  expect(lease.remainingMs).toBeLessThanOrEqual(longestMs);
  expect(await listRows(database.current.db)).toMatchObject([
    { holder_id: lease.holderId, service: 'test', mailbox: [] },
  ]);
});

test('it is renewed again and again under its id', async () => {
  await using stack = new AsyncDisposableStack();
  const { lease, events } = openTestLease(database.current.url, stack);
  await lease.start();
  const [before] = await listRows(database.current.db);
  await eventually('renewed for longer than it lasts', () => lease.counts.renewals > 4);
  const [after] = await listRows(database.current.db);
  expect(after?.holder_id).toBe(before?.holder_id);
  expect(Date.parse(String(after?.expires_at)) - Date.parse(String(before?.expires_at))).toBeGreaterThan(leaseMs);
  expect(lease.isValid()).toBe(true);
  expect({ events: events.length, ...lease.counts }).toMatchObject({ events: 1, failures: 0, losses: 0 });
});

test('a process that was stopped does not serve, though none of its timers has fired yet', async () => {
  await using stack = new AsyncDisposableStack();
  const { lease } = openTestLease(database.current.url, stack);
  await lease.start();
  expect(lease.isValid()).toBe(true);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, longestMs);
  expect({ valid: lease.isValid(), remainingMs: lease.remainingMs }).toEqual({ valid: false, remainingMs: 0 });
  await eventually('renewed', () => lease.isValid());
});

describe('when its row is gone', () => {
  test('everything is dropped before it registers anew, under another id', async () => {
    await using stack = new AsyncDisposableStack();
    const { lease, events } = openTestLease(database.current.url, stack);
    await lease.start();
    const first = idOf(lease);
    await database.current.db.deleteFrom('cache_leases').execute();
    await eventually('registered anew', () => lease.holderId !== undefined && lease.holderId !== first);
    await eventually('serves', () => lease.isValid());
    expect(events.length).toBeGreaterThan(1);
    expect(events.every(({ what, valid }) => what === 'lost' && !valid)).toBe(true);
    expect(lease.counts.losses).toBe(1);
    expect((await listRows(database.current.db)).map((row) => row.holder_id)).toEqual([lease.holderId]);
  });

  test('a renewal does not bring it back', async () => {
    expect(await renewLease(database.current.db, randomUUID(), [])).toBeUndefined();
    expect(await renewLease(database.current.db, randomUUID(), ['a'])).toBeUndefined();
    expect(await listRows(database.current.db)).toEqual([]);
  });
});

test('its time counts from when the renewal was sent, however late the answer', async () => {
  await using stack = new AsyncDisposableStack();
  const door = await startChaosProxy(database.current.url, stack);
  const { lease } = openTestLease(door.url, stack);
  await lease.start();
  const [before] = await listRows(database.current.db);
  const release = door.stall('to-client');
  await eventually('renewed in the table', async () => {
    const [row] = await listRows(database.current.db);
    return row?.expires_at !== before?.expires_at;
  });
  const renewedBy = performance.now();
  const renewals = lease.counts.renewals;
  await delay(400);
  expect(lease.counts.renewals).toBe(renewals);
  release();
  await eventually('the answer', () => lease.counts.renewals > renewals);
  expect(lease.remainingMs).toBeLessThanOrEqual(longestMs - (performance.now() - renewedBy));
});

describe('while Postgres is away', () => {
  test('at the start, it does not serve, goes on trying, and serves later', async () => {
    await using stack = new AsyncDisposableStack();
    const door = await startChaosProxy(database.current.url, stack);
    await door.shut();
    const { lease } = openTestLease(door.url, stack);
    await lease.start();
    expect({ valid: lease.isValid(), holderId: lease.holderId }).toEqual({ valid: false, holderId: undefined });
    await door.open();
    await eventually('serves', () => lease.isValid());
    expect(lease.counts.failures).toBeGreaterThan(0);
  });

  test('later, it serves no longer than its lease; then goes on where nobody has deleted it', async () => {
    await using stack = new AsyncDisposableStack();
    const door = await startChaosProxy(database.current.url, stack);
    const { lease, events } = openTestLease(door.url, stack);
    await lease.start();
    const id = idOf(lease);
    await door.shut();
    expect(lease.isValid()).toBe(true);
    const stopsAt = Date.now() + lease.remainingMs; // Postgres has the same clock here
    const [row] = await listRows(database.current.db);
    expect(stopsAt).toBeLessThan(Date.parse(String(row?.expires_at))); // before a writer may think so
    await eventually('does not serve', () => !lease.isValid());
    await door.open();
    await eventually('serves', () => lease.isValid());
    expect({ id: lease.holderId, events: events.length }).toEqual({ id, events: 1 });
  });

  test('and a writer has deleted it, everything is dropped', async () => {
    await using stack = new AsyncDisposableStack();
    const door = await startChaosProxy(database.current.url, stack);
    const { lease, events } = openTestLease(door.url, stack);
    await lease.start();
    const id = idOf(lease);
    await door.shut();
    await database.current.db.deleteFrom('cache_leases').execute();
    await door.open();
    await eventually('registered anew', () => lease.holderId !== undefined && lease.holderId !== id);
    expect(events.length).toBeGreaterThan(1);
  });

  test('a connection that answers nothing is given up, and the next one is tried', async () => {
    await using stack = new AsyncDisposableStack();
    const door = await startChaosProxy(database.current.url, stack);
    const { lease } = openTestLease(door.url, stack);
    await lease.start();
    const release = door.stall('to-client');
    await eventually('given up', () => lease.counts.failures > 1);
    release();
    await eventually('renewed', () => lease.isValid());
  });
});

describe('a registration whose answer is lost', () => {
  test('leaves a row that runs out and is never taken up: the next one has another id', async () => {
    await using stack = new AsyncDisposableStack();
    const door = await startChaosProxy(database.current.url, stack);
    const { lease } = openTestLease(door.url, stack);
    const { started, proceed } = await startBehindLock(lease);
    const release = door.stall('to-client');
    await proceed();
    await eventually('inserted', async () => (await listRows(database.current.db)).length === 1);
    const [orphan] = await listRows(database.current.db);
    await door.shut();
    release();
    await started;
    expect({ valid: lease.isValid(), holderId: lease.holderId }).toEqual({ valid: false, holderId: undefined });

    await door.open();
    await eventually('renewed', () => lease.counts.renewals > 2);
    const rows = await listRows(database.current.db);
    expect(rows.map((row) => row.holder_id)).toEqual([orphan?.holder_id, lease.holderId]);
    expect(rows[0]).toEqual(orphan);
  });

  test('is taken away by a later registration, once it ran out long ago', async () => {
    await using stack = new AsyncDisposableStack();
    const { db, url } = database.current;
    const insert = (id: string, secondsAgo: number) =>
      sql`insert into cache_leases (holder_id, service, expires_at)
        values (${id}, 'test', clock_timestamp() - ${secondsAgo} * interval '1 second')`.execute(db);
    const [long, shortly] = [randomUUID(), randomUUID()];
    await insert(long, 61);
    await insert(shortly, 30);
    const { lease } = openTestLease(url, stack);
    await lease.start();
    expect((await listRows(db)).map((row) => row.holder_id)).toEqual([shortly, lease.holderId]);
  });
});

describe('close', () => {
  test('gives the row up, and serves no more', async () => {
    await using stack = new AsyncDisposableStack();
    const { lease } = openTestLease(database.current.url, stack);
    await lease.start();
    await lease.close();
    expect(lease.isValid()).toBe(false);
    expect(await listRows(database.current.db)).toEqual([]);
    const { renewals } = lease.counts;
    await delay(800);
    expect({ ...lease.counts, rows: await listRows(database.current.db) }).toMatchObject({ renewals, rows: [] });
  });

  test('in the middle of a registration gives up what that brings', async () => {
    await using stack = new AsyncDisposableStack();
    const { lease } = openTestLease(database.current.url, stack);
    const { started, proceed } = await startBehindLock(lease);
    const closed = lease.close();
    await proceed();
    await Promise.all([started, closed]);
    expect(lease.counts.renewals).toBe(1);
    expect({ valid: lease.isValid(), rows: await listRows(database.current.db) }).toEqual({ valid: false, rows: [] });
  });

  test('ends while Postgres is away: the row runs out by itself', async () => {
    await using stack = new AsyncDisposableStack();
    const door = await startChaosProxy(database.current.url, stack);
    const { lease } = openTestLease(door.url, stack);
    await lease.start();
    await door.shut();
    await lease.close();
    expect(lease.isValid()).toBe(false);
    expect(await listRows(database.current.db)).toHaveLength(1);
  });
});

test('a moment may have come by the clock of the database, never later than it has', async () => {
  await using stack = new AsyncDisposableStack();
  const { lease } = openTestLease(database.current.url, stack);
  await lease.start();
  for (let i = 0; i < 20; i++) {
    const { rows } = await sql<{ ms: string }>`select extract(epoch from clock_timestamp()) * 1000 as ms`.execute(
      database.current.db,
    );
    expect(lease.mayHaveCome(Number(rows[0]?.ms))).toBe(true);
    expect(lease.mayHaveCome(Number(rows[0]?.ms) + 60_000)).toBe(false);
  }
});

async function startBehindLock(lease: HeldLease): Promise<{ started: Promise<void>; proceed: () => Promise<void> }> {
  const { db } = database.current;
  const lock = await db.startTransaction().execute();
  await sql`lock table cache_leases in exclusive mode`.execute(lock);
  const started = lease.start();
  await eventually('waits for the lock', async () => {
    const waiting = sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into cache_leases%'`;
    return (await waiting.execute(db)).rows.length > 0;
  });
  return { started, proceed: () => lock.commit().execute() };
}
