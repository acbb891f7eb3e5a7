import { openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { testRows } from '../testing/test-rows.ts';
import { measureFigures } from './measure-figures.ts';

const stores = useStack(async (stack) => {
  const { db } = await openTestDatabase(stack);
  return { db, rows: testRows(db) };
});

async function scrape(registry: Registry): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

test('nothing is known before it was read; then what waits in Postgres, and how long', async () => {
  const { db, rows } = stores.current;
  const registry = new Registry();
  const rounds = measureFigures(db, registry);
  expect((await scrape(registry)).sluice_changes_waiting).toBeNaN();
  expect(await scrape(registry)).not.toHaveProperty('sluice_overdue_seconds{kind="token"}');

  await rounds.figures();
  expect(await scrape(registry)).toMatchObject({
    sluice_changes_waiting: 0,
    sluice_changes_oldest_age_seconds: 0,
    'sluice_cache_leases{state="held"}': 0,
    'sluice_overdue_seconds{kind="application"}': 0,
    'sluice_overdue_seconds{kind="token"}': 0,
    'sluice_overdue_seconds{kind="cvc"}': 0,
    'sluice_overdue_seconds{kind="tenant"}': 0,
  });

  const tenantId = await rows.tenant();
  await rows.application(tenantId, minutesAgo(10));
  await rows.application(tenantId, minutesAgo(-10));
  const due = (kind: 'expiry' | 'cvc', minutes: number) => ({
    tenant_id: tenantId,
    kind,
    due_at: minutesAgo(minutes).toISOString(),
  });
  await db
    .insertInto('due_tokens')
    .values([due('expiry', 5), due('expiry', -5), due('cvc', 1)])
    .execute();
  const change = { tenant_id: tenantId, id: crypto.randomUUID(), tags: ['a'] };
  await db
    .insertInto('changes')
    .values({ ...change, created_at: minutesAgo(1).toISOString() })
    .execute();
  for (const expires of [minutesAgo(1), minutesAgo(-1)]) {
    const lease = { holder_id: crypto.randomUUID(), service: 'proxy-gateway', expires_at: expires.toISOString() };
    await db
      .insertInto('cache_leases')
      .values({ ...lease, mailbox: '[]' })
      .execute();
  }
  await rounds.figures();
  const figures = await scrape(registry);
  expect(figures).toMatchObject({
    sluice_changes_waiting: 1,
    'sluice_cache_leases{state="held"}': 1,
    'sluice_cache_leases{state="expired"}': 1,
    'sluice_cache_leases_outdated{service="proxy-gateway"}': 1,
    'sluice_cache_leases_outdated{service="token-vault"}': 0,
    'sluice_overdue_seconds{kind="cvc"}': 0,
  });
  const age = (name: string, minutes: number) => {
    expect(figures[name]).toBeGreaterThanOrEqual(minutes * 60);
    expect(figures[name]).toBeLessThan(minutes * 60 + 50);
  };
  age('sluice_changes_oldest_age_seconds', 1);
  age('sluice_overdue_seconds{kind="application"}', 10);
  age('sluice_overdue_seconds{kind="token"}', 3);
});

test('of the ledger what waits to be sequenced since it came, what no witness has, and rows that have no month', async () => {
  const { db, rows } = stores.current;
  const [registry, other] = [new Registry(), new Registry()];
  const rounds = measureFigures(db, registry, { hasWitness: true });
  const withoutWitness = measureFigures(db, other);
  await rounds.figures();
  const before = await scrape(registry);
  expect(before).toMatchObject({ sluice_ledger_oldest_age_seconds: 0, sluice_audit_log_default_rows: 0 });
  const tenantId = await rows.tenant();
  await sql`
    insert into audit_log (tenant_id, at, operation, entity_type, entity_id)
    select ${tenantId}, timestamptz '2120-01-01', 'use', 'proxy', 'p' from generate_series(1, 7)
  `.execute(db);
  await sql`update audit_log_arrivals set arrived_at = now() - interval '2 minutes'`.execute(db);
  await db
    .insertInto('ledgers')
    .values({ tenant_id: tenantId, size: 5, checkpoint: 'signed', witnessed_size: 3, unsequenced_before: 10 })
    .execute();
  await rounds.figures();
  await withoutWitness.figures();
  const figures = await scrape(registry);
  expect(figures).toMatchObject({
    sluice_ledger_waiting_rows: Number(before.sluice_ledger_waiting_rows) + 17,
    sluice_ledger_unwitnessed: Number(before.sluice_ledger_unwitnessed) + 1,
    sluice_audit_log_default_rows: 7,
  });
  expect(figures.sluice_ledger_oldest_age_seconds).toBeGreaterThanOrEqual(120);
  expect(figures.sluice_ledger_oldest_age_seconds).toBeLessThan(170);
  expect((await scrape(other)).sluice_ledger_unwitnessed).toBeNaN();
});

test('of data keys the newest of each Tenant and purpose count, and those that hash do not', async () => {
  const { db, rows } = stores.current;
  const registry = new Registry();
  const rounds = measureFigures(db, registry);
  const tenantId = await rows.tenant();
  await rows.dataKey(tenantId);
  await sql`update data_keys set use_count = 9000, created_at = now() - interval '2 days'`.execute(db);
  const key = { tenant_id: tenantId, wrapped_key: Buffer.from('x'), root_key_id: 'r' };
  const created_at = minutesAgo(60).toISOString();
  await db
    .insertInto('data_keys')
    .values([
      { ...key, purpose: 'token_data', version: 2, use_count: 70, created_at },
      { ...key, purpose: 'fingerprint', version: 1, use_count: 8000, created_at: minutesAgo(9000).toISOString() },
    ])
    .execute();
  await rounds.keyUsage();
  const figures = await scrape(registry);
  expect(figures.sluice_data_key_encryptions_max).toBe(70);
  expect(figures.sluice_data_key_oldest_age_seconds).toBeGreaterThanOrEqual(3600);
  expect(figures.sluice_data_key_oldest_age_seconds).toBeLessThan(3650);
  expect(figures.sluice_data_key_encryptions_limit).toBe(2 ** 28);
});

test('what cannot be read any more is not known, and the rest is', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openTestDatabase(stack);
  const registry = new Registry();
  const rounds = measureFigures(db, registry);
  await rounds.figures();
  await sql`drop table cache_leases`.execute(db);
  await expect(rounds.figures()).rejects.toThrow('cache_leases');
  expect(await scrape(registry)).not.toHaveProperty('sluice_cache_leases{state="held"}');
  expect(await scrape(registry)).toMatchObject({
    sluice_changes_waiting: 0,
    'sluice_overdue_seconds{kind="token"}': 0,
    'sluice_overdue_seconds{kind="application"}': 0,
  });
});

test('a stop reads no further figure', async () => {
  const registry = new Registry();
  const stopping = new AbortController();
  const rounds = measureFigures(stores.current.db, registry, { stopping: stopping.signal });
  const reading = rounds.figures();
  stopping.abort();
  await reading;
  const known = Object.entries(await scrape(registry)).filter(([, value]) => !Number.isNaN(value));
  expect(known.map(([name]) => name)).toContain('sluice_changes_waiting');
  expect(known.map(([name]) => name)).not.toContain('sluice_audit_log_default_rows');
});
