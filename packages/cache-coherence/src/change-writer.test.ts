import { randomUUID } from 'node:crypto';
import { eventually, openRedisDoor, openTestDatabase, startChaosProxy, useStack } from '@sluice/testing';
import { type ChangeWriter, type RecordedChange, tagOf } from './index.ts';
import { localBus, openHolder, openWriter, tag } from './testing/test-processes.ts';

const database = useStack(openTestDatabase);
const tenantId = randomUUID();

beforeEach(async () => {
  await database.current.db.deleteFrom('cache_leases').execute();
  await database.current.db.deleteFrom('changes').execute();
});

function record(changes: ChangeWriter, tags: readonly string[] = [tag]): Promise<RecordedChange> {
  return database.current.db.transaction().execute((tx) => changes.record(tx, tenantId, tags));
}

async function change(changes: ChangeWriter, tags?: readonly string[]) {
  return changes.barrier(await record(changes, tags));
}

const outbox = () => database.current.db.selectFrom('changes').select(['id', 'tenant_id', 'tags']).execute();

const away = 'redis://127.0.0.1:1';

describe('no process serves the old state once a change is confirmed', () => {
  test.each([
    ['all is well', {}, {}],
    ['Redis is away for the writer', { redisUrl: away }, {}],
    ['Redis is away for those who cache', {}, { redisUrl: away }],
  ])('when %s', async (_name, ofWriter, ofHolders) => {
    await using stack = new AsyncDisposableStack();
    const changes = openWriter(database.current, stack, ofWriter);
    const holders = await Promise.all([1, 2, 3].map(() => openHolder(database.current, stack, ofHolders)));
    for (let n = 0; n < 5; n++) {
      const [before, after] = [`state ${n}`, `state ${n + 1}`];
      for (const holder of holders) expect(await holder.read(before)).toBe(before);
      expect(await change(changes)).toMatchObject({ holders: 3 });
      for (const holder of holders) expect(await holder.read(after)).toBe(after);
    }
  });

  test('when a process that caches is cut off from everything', async () => {
    await using stack = new AsyncDisposableStack();
    const postgres = await startChaosProxy(database.current.url, stack);
    const redis = await openRedisDoor(stack);
    const changes = openWriter(database.current, stack);
    const holder = await openHolder(database.current, stack, { databaseUrl: postgres.url, redisUrl: redis.url });
    expect(await holder.read('old')).toBe('old');
    await Promise.all([postgres.shut(), redis.shut()]);
    expect(await holder.read('not asked')).toBe('old');
    await change(changes);
    expect(await holder.read('new')).toBe('new');
    await Promise.all([postgres.open(), redis.open()]);
    await eventually('caches again', async () => {
      await holder.read('newer');
      const cached = await holder.read('not asked');
      expect(cached).not.toBe('old');
      return cached === 'newer';
    });
  });

  test('would do so if the writer only announced it (negative control)', async () => {
    await using stack = new AsyncDisposableStack();
    const holder = await openHolder(database.current, stack, { redisUrl: away });
    expect(await holder.read('old')).toBe('old');
    const bus = localBus();
    bus.publish('{sluice}:changes', { id: randomUUID(), writerId: randomUUID(), tags: [tag] });
    expect(await holder.read('new')).toBe('old');
  });
});

test('with nobody who caches there is nothing to wait for', async () => {
  await using stack = new AsyncDisposableStack();
  const changes = openWriter(database.current, stack, { redisUrl: away });
  const recorded = await record(changes);
  expect(await changes.barrier(recorded)).toEqual({ changeId: recorded.id, holders: 0, waitedMs: expect.any(Number) });
});

test('a process that has stopped is not waited for', async () => {
  await using stack = new AsyncDisposableStack();
  const changes = openWriter(database.current, stack);
  const holder = await openHolder(database.current, stack);
  await holder.stop();
  expect(await change(changes)).toMatchObject({ holders: 0 });
});

test('the caches of the process itself are told before anyone, and it waits for nothing', async () => {
  await using stack = new AsyncDisposableStack();
  const bus = localBus();
  const holder = await openHolder(database.current, stack, { bus });
  const entriesWhenAnnounced: number[] = [];
  const changes = openWriter(database.current, stack, {
    caches: holder.caches,
    bus: { subscribe: () => {}, publish: () => void entriesWhenAnnounced.push(holder.cache.entries) },
  });
  expect(await holder.read('old')).toBe('old');
  expect(holder.cache.entries).toBe(1);
  expect(await change(changes)).toMatchObject({ holders: 1 });
  expect(entriesWhenAnnounced).toEqual([0]);
  expect(await database.current.db.selectFrom('cache_leases').select('mailbox').execute()).toEqual([{ mailbox: [] }]);
});

describe('the outbox', () => {
  test('has a change from its transaction until it is confirmed', async () => {
    await using stack = new AsyncDisposableStack();
    const changes = openWriter(database.current, stack, { bus: localBus() });
    const recorded = await record(changes, ['a', 'b']);
    expect(await outbox()).toEqual([{ id: recorded.id, tenant_id: tenantId, tags: ['a', 'b'] }]);
    await changes.barrier(recorded);
    await eventually('empty', async () => (await outbox()).length === 0);
  });

  test('is emptied of what was confirmed just before the process stops', async () => {
    const stack = new AsyncDisposableStack();
    const changes = openWriter(database.current, stack, { bus: localBus() });
    await Promise.all(Array.from({ length: 20 }, () => change(changes)));
    await stack.disposeAsync();
    expect(await outbox()).toEqual([]);
  });

  test('notes a change to several Tenants under one id, and forgets all of it', async () => {
    await using stack = new AsyncDisposableStack();
    const announced: unknown[] = [];
    const bus = { subscribe: () => {}, publish: (_channel: string, message: object) => void announced.push(message) };
    const changes = openWriter(database.current, stack, { bus });
    const [one, other] = [randomUUID(), randomUUID()];
    const recorded = await database.current.db.transaction().execute((tx) =>
      changes.recordEach(
        tx,
        new Map([
          [one, [tagOf.application('1'), tagOf.proxy('2')]],
          [other, [tagOf.application('3')]],
        ]),
      ),
    );
    const tags = ['application:1', 'proxy:2', 'application:3'];
    expect(recorded).toEqual({ id: expect.any(String), tenantIds: [one, other], tags });
    expect(await outbox()).toEqual(
      expect.arrayContaining([
        { id: recorded.id, tenant_id: one, tags: tags.slice(0, 2) },
        { id: recorded.id, tenant_id: other, tags: tags.slice(2) },
      ]),
    );
    await changes.barrier(recorded);
    expect(announced).toMatchObject([{ tags }]);
    await eventually('empty', async () => (await outbox()).length === 0);
  });

  test('keeps nothing of a transaction that was rolled back, and nothing is announced', async () => {
    await using stack = new AsyncDisposableStack();
    const announced: unknown[] = [];
    const bus = { subscribe: () => {}, publish: (_channel: string, message: object) => void announced.push(message) };
    const changes = openWriter(database.current, stack, { bus });
    const rolledBack = database.current.db.transaction().execute(async (tx) => {
      await changes.record(tx, tenantId, [tag]);
      throw new Error('changed my mind');
    });
    await expect(rolledBack).rejects.toThrow('changed my mind');
    expect({ outbox: await outbox(), announced }).toEqual({ outbox: [], announced: [] });
  });
});
