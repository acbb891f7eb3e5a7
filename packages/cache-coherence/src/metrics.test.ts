import { randomUUID } from 'node:crypto';
import { eventually, openTestDatabase, startChaosProxy, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import type { RecordedChange } from './change.ts';
import { localBus, openHolder, openWriter, tag } from './testing/test-processes.ts';

const database = useStack(openTestDatabase);

beforeEach(() => database.current.db.deleteFrom('cache_leases').execute());

async function scrape(metrics: Registry): Promise<Record<string, number>> {
  const lines = (await metrics.metrics()).split('\n').filter((line) => line && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
}

const names = async (metrics: Registry) => (await metrics.getMetricsAsJSON()).map(({ name }) => name).sort();
const randomChange = (): RecordedChange => ({ id: randomUUID(), tenantIds: [randomUUID()], tags: [tag] });

test('of a process that caches', async () => {
  await using stack = new AsyncDisposableStack();
  const metrics = new Registry();
  const door = await startChaosProxy(database.current.url, stack);
  const holder = await openHolder(database.current, stack, { metrics, bus: localBus(), databaseUrl: door.url });
  expect(await names(metrics)).toEqual([
    'sluice_cache_bytes',
    'sluice_cache_dropped_entries_total',
    'sluice_cache_entries',
    'sluice_cache_lease_remaining_seconds',
    'sluice_cache_lease_renewals_total',
    'sluice_cache_requests_total',
  ]);
  for (let n = 0; n < 4; n++) await holder.read('old');
  await holder.cache.get('l', async () => undefined);
  expect(await scrape(metrics)).toMatchObject({
    'sluice_cache_requests_total{cache="values",result="hit"}': 3,
    'sluice_cache_requests_total{cache="values",result="miss"}': 2,
    'sluice_cache_dropped_entries_total{cache="values"}': 0,
    'sluice_cache_entries{cache="values"}': 1,
    'sluice_cache_bytes{cache="values"}': 600,
  });
  holder.caches.drop([tag]);
  const dropped = await scrape(metrics);
  expect(dropped).toMatchObject({
    'sluice_cache_dropped_entries_total{cache="values"}': 1,
    'sluice_cache_entries{cache="values"}': 0,
    'sluice_cache_bytes{cache="values"}': 0,
    'sluice_cache_lease_renewals_total{result="lost"}': 0,
  });
  expect(dropped['sluice_cache_lease_renewals_total{result="renewed"}']).toBeGreaterThan(0);
  expect(dropped.sluice_cache_lease_remaining_seconds).toBeGreaterThan(0);
  expect(dropped.sluice_cache_lease_remaining_seconds).toBeLessThanOrEqual(1.8);

  await database.current.db.deleteFrom('cache_leases').execute();
  await door.shut();
  await eventually('out', async () => (await scrape(metrics)).sluice_cache_lease_remaining_seconds === 0);
  expect((await scrape(metrics))['sluice_cache_lease_renewals_total{result="failed"}']).toBeGreaterThan(0);
  await holder.read('old');
  expect((await scrape(metrics))['sluice_cache_requests_total{cache="values",result="miss"}']).toBe(3);
  await door.open();
  await eventually(
    'lost',
    async () => (await scrape(metrics))['sluice_cache_lease_renewals_total{result="lost"}'] === 1,
  );
});

test('of a process that changes what others cache', async () => {
  await using stack = new AsyncDisposableStack();
  const metrics = new Registry();
  const changes = openWriter(database.current, stack, { metrics, bus: localBus() });
  expect(await names(metrics)).toEqual([
    'sluice_cache_leases_deleted_total',
    'sluice_change_confirmation_seconds',
    'sluice_changes_posted_to_mailboxes_total',
    'sluice_changes_unconfirmed_total',
  ]);
  await changes.barrier(randomChange());
  expect(await scrape(metrics)).toMatchObject({
    sluice_cache_leases_deleted_total: 0,
    sluice_changes_posted_to_mailboxes_total: 0,
    sluice_changes_unconfirmed_total: 0,
    sluice_change_confirmation_seconds_count: 1,
  });
  await sql`insert into cache_leases (holder_id, service, expires_at)
    values (gen_random_uuid(), 'hangs', clock_timestamp() + interval '1500 milliseconds')`.execute(database.current.db);
  await changes.barrier(randomChange());
  const after = await scrape(metrics);
  expect(after).toMatchObject({
    sluice_cache_leases_deleted_total: 1,
    sluice_changes_posted_to_mailboxes_total: 1,
    sluice_change_confirmation_seconds_count: 2,
    'sluice_change_confirmation_seconds_bucket{le="10"}': 2,
  });
  expect(after.sluice_change_confirmation_seconds_sum).toBeGreaterThan(0.5);
});

test('a change that could not be confirmed is counted, logged, and stays in the outbox', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = database.current;
  const metrics = new Registry();
  const changes = openWriter(database.current, stack, { metrics, bus: localBus(), deadlineMs: 1500 });
  await sql`insert into cache_leases (holder_id, service, expires_at)
    values (gen_random_uuid(), 'never takes its mail', clock_timestamp() + interval '1 minute')`.execute(db);
  const change = await db.transaction().execute((tx) => changes.record(tx, randomUUID(), [tag]));
  await expect(changes.barrier(change)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await scrape(metrics)).toMatchObject({
    sluice_changes_unconfirmed_total: 1,
    sluice_changes_posted_to_mailboxes_total: 1,
    sluice_change_confirmation_seconds_count: 0,
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await db.selectFrom('changes').select('id').execute()).toEqual([{ id: change.id }]);
});
