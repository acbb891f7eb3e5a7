import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { connectDatabase } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { eventually, openTestDatabase, recordStatements, startChaosProxy, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { type Announcement, changesChannel } from './announcement.ts';
import { confirmChange } from './barrier.ts';
import type { Bus } from './bus.ts';
import { leaseMs } from './lease.queries.ts';
import { Mailboxes } from './mailboxes.ts';
import { listRows, openTestLease, silent } from './testing/test-lease.ts';
import { localBus, openWriter } from './testing/test-processes.ts';

const database = useStack(openTestDatabase);

beforeEach(() => database.current.db.deleteFrom('cache_leases').execute());

async function hangingHolder(remainingMs: number): Promise<string> {
  const id = randomUUID();
  await sql`insert into cache_leases (holder_id, service, expires_at)
    values (${id}, 'hangs', clock_timestamp() + ${remainingMs} * interval '1 millisecond')`.execute(
    database.current.db,
  );
  return id;
}

const randomChange = (tags = ['proxy:1']) => ({ id: randomUUID(), tenantIds: [randomUUID()], tags });

function listen(bus: Bus): Announcement[] {
  const announced: Announcement[] = [];
  bus.subscribe(changesChannel, (text) => announced.push(JSON.parse(text)));
  return announced;
}

function acknowledge(bus: Bus, { id, writerId }: Announcement, holderId: string): void {
  bus.publish(`{sluice}:acknowledgements:${writerId}`, { changeId: id, holderId });
}

async function isDone(work: Promise<unknown>): Promise<boolean> {
  return Promise.race([work.then(() => true), delay(200, false)]);
}

describe('a holder that hangs', () => {
  test('is waited for until its lease has run out, and then has none', async () => {
    await using stack = new AsyncDisposableStack();
    const changes = openWriter(database.current, stack, { bus: localBus() });
    const heldUntil = Date.now() + 1000; // Postgres has the same clock here
    await hangingHolder(1000);
    const { waitedMs, holders } = await changes.barrier(randomChange());
    expect(Date.now()).toBeGreaterThanOrEqual(heldUntil);
    expect({ holders, rows: await listRows(database.current.db) }).toEqual({ holders: 1, rows: [] });
    expect(waitedMs).toBeLessThan(2 * leaseMs);
  });

  test('is not waited for where its lease ran out before: it is deleted', async () => {
    await using stack = new AsyncDisposableStack();
    const changes = openWriter(database.current, stack, { bus: localBus() });
    await hangingHolder(-1);
    expect(await changes.barrier(randomChange())).toMatchObject({ holders: 1 });
    expect(await listRows(database.current.db)).toEqual([]);
  });

  test('does not make others wait for what comes after it, nor for holders that registered after the commit', async () => {
    await using stack = new AsyncDisposableStack();
    const bus = localBus();
    const announced = listen(bus);
    const changes = openWriter(database.current, stack, { bus });
    await hangingHolder(4000);
    const confirmed = changes.barrier(randomChange());
    await eventually('announced', () => announced.length > 0);
    expect(await isDone(confirmed)).toBe(false);
    const later = await hangingHolder(60_000);
    await confirmed;
    expect(await listRows(database.current.db)).toMatchObject([{ holder_id: later, mailbox: [] }]);
  });

  test('gets all changes that wait for it in few statements', async () => {
    await using stack = new AsyncDisposableStack();
    const { db, statements } = recordStatements(database.current.db);
    const changes = openWriter({ db }, stack, { bus: localBus() });
    await hangingHolder(60_000);
    const all = Promise.all(Array.from({ length: 50 }, (_, n) => changes.barrier(randomChange([`proxy:${n}`]))));
    await eventually('posted', async () => (await listRows(database.current.db))[0]?.mailbox.length === 50);
    const posts = statements.filter(({ sql: text }) => text.includes('set "mailbox"'));
    expect(posts.length).toBeLessThan(25);
    await database.current.db.deleteFrom('cache_leases').execute();
    await all;
  });

  test('that renews its lease and never takes its mail out makes the change unavailable; the mail is there once', async () => {
    await hangingHolder(60_000);
    const { db } = database.current;
    const counts = { posted: 0, deletedLeases: 0 };
    const mailboxes = new Mailboxes({ db, log: silent, counts });
    const options = { db, mailboxes, announce: () => () => {}, deadlineMs: 1500 };
    const failure = await confirmChange(randomChange(), options).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ServiceError);
    expect(failure).toMatchObject({ code: 'unavailable', retryAfterSeconds: 2 });
    expect((await listRows(db))[0]?.mailbox).toEqual([{ id: expect.any(String), tags: ['proxy:1'] }]);
    expect(counts).toEqual({ posted: 1, deletedLeases: 0 });
  });
});

describe('acknowledgements', () => {
  test('end the wait for their holder, also when they come late', async () => {
    await using stack = new AsyncDisposableStack();
    const bus = localBus();
    const announced = listen(bus);
    const changes = openWriter(database.current, stack, { bus });
    const [one, other] = [await hangingHolder(60_000), await hangingHolder(60_000)];
    const confirmed = changes.barrier(randomChange());
    await eventually('announced', () => announced.length > 0);
    acknowledge(bus, announced[0] as Announcement, one);
    expect(await isDone(confirmed)).toBe(false);
    acknowledge(bus, announced[0] as Announcement, other);
    expect(await confirmed).toMatchObject({ holders: 2 });
  });

  test('that are not for this change, not of this holder, or not readable, change nothing', async () => {
    await using stack = new AsyncDisposableStack();
    const bus = localBus();
    const announced = listen(bus);
    const changes = openWriter(database.current, stack, { bus });
    const holderId = await hangingHolder(60_000);
    const change = randomChange();
    const confirmed = changes.barrier(change);
    await eventually('announced', () => announced.length > 0);
    const [{ id: changeId, writerId }] = announced as [Announcement];
    for (const forged of [
      { changeId, holderId: randomUUID() },
      { changeId: randomUUID(), holderId },
      { changeId: change.id, holderId }, // every attempt has its own id, not the outbox's
      { changeId, holderId: [holderId] },
      { changeId: { toString: 1 }, holderId },
      { changeId: '__proto__', holderId: 'constructor' },
      [changeId, holderId],
      {},
    ]) {
      bus.publish(`{sluice}:acknowledgements:${writerId}`, forged);
    }
    expect(await isDone(confirmed)).toBe(false);
    acknowledge(bus, announced[0] as Announcement, holderId);
    await confirmed;
  });

  test('of one attempt at a change say nothing of another, which may have other tags', async () => {
    await using stack = new AsyncDisposableStack();
    const bus = localBus();
    const announced = listen(bus);
    const changes = openWriter(database.current, stack, { bus });
    const holderId = await hangingHolder(60_000);
    const change = randomChange(['application:1']);
    const first = changes.barrier(change);
    const second = changes.barrier({ ...change, tags: ['application:2'] });
    await eventually('announced', () => announced.length === 2);
    acknowledge(bus, announced[0] as Announcement, holderId);
    await first;
    expect(await isDone(second)).toBe(false);
    acknowledge(bus, announced[1] as Announcement, holderId);
    expect(await second).toMatchObject({ changeId: change.id });
  });
});

test('two writers at once lose nothing in one mailbox', async () => {
  await using stack = new AsyncDisposableStack();
  const handled: string[] = [];
  const { lease } = openTestLease(database.current.url, stack, ({ tags }) => handled.push(...tags));
  await lease.start();
  const writers = [1, 2].map(() => openWriter(database.current, stack, { bus: localBus() }));
  const tags = Array.from({ length: 60 }, (_, n) => `proxy:${n}`);
  for (let n = 0; n < tags.length; n += 20) {
    const round = tags.slice(n, n + 20);
    await Promise.all(round.map((tag, i) => writers[i % 2]?.barrier(randomChange([tag]))));
    expect(new Set(handled)).toEqual(new Set(tags.slice(0, n + 20)));
  }
});

test('a writer that cannot reach Postgres after its commit goes on trying', async () => {
  await using stack = new AsyncDisposableStack();
  const door = await startChaosProxy(database.current.url, stack);
  const options = { DATABASE_URL: door.url, DATABASE_POOL_SIZE: 2 };
  const db = connectDatabase(options, { stack, onError: () => {} });
  const changes = openWriter({ db }, stack, { bus: localBus() });
  await door.shut();
  const confirmed = changes.barrier(randomChange());
  expect(await isDone(confirmed)).toBe(false);
  await hangingHolder(500);
  await door.open();
  expect(await confirmed).toMatchObject({ holders: 1 });
  expect(await listRows(database.current.db)).toEqual([]);
});

test('Postgres that stays away makes the change unavailable, with what happened for the log', async () => {
  await using stack = new AsyncDisposableStack();
  const options = { DATABASE_URL: 'postgres://127.0.0.1:1/nowhere', DATABASE_POOL_SIZE: 1 };
  const db = connectDatabase(options, { stack, onError: () => {} });
  const mailboxes = new Mailboxes({ db, log: silent, counts: { posted: 0, deletedLeases: 0 } });
  const failing = confirmChange(randomChange(), { db, mailboxes, announce: () => () => {}, deadlineMs: 1000 });
  await expect(failing).rejects.toMatchObject({ code: 'unavailable', cause: { code: 'ECONNREFUSED' } });
});
