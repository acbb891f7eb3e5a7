import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { originOf, readVerifierLine, verifierLine, verifyCheckpoint } from '@sluice/ledger';
import { eventually, openTestDatabase, slow, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { deleteTenantRow } from '../tenant-purge/tenant-purge.queries.ts';
import { testRows } from '../testing/test-rows.ts';
import { lockLedger } from './ledger.queries.ts';
import { sequenceDue } from './sequence.ts';

const database = useStack((stack) => openTestDatabase(stack));
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const ledgerOrigin = 'sluice.example';

const sequence = () => sequenceDue({ db: database.current.db, privateKey, ledgerOrigin });

const insertRows = (tenantId: string, count: number) =>
  sql`
    insert into audit_log (tenant_id, operation, entity_type, entity_id)
    select ${tenantId}, 'use', 'proxy', 'p' from generate_series(1, ${count}::int)
  `.execute(database.current.db);

async function treeOf(tenantId: string) {
  const { db } = database.current;
  const leaves = await db
    .selectFrom('ledger_leaves')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('leaf_index')
    .execute();
  const rows = await db.selectFrom('audit_log').select('id').where('tenant_id', '=', tenantId).execute();
  const ledger = await db.selectFrom('ledgers').selectAll().where('tenant_id', '=', tenantId).executeTakeFirstOrThrow();
  return { leaves, ids: rows.map(({ id }) => id).sort(), ledger };
}

async function expectWhole(tenantId: string): Promise<void> {
  const { leaves, ids, ledger } = await treeOf(tenantId);
  expect(leaves.map(({ log_id }) => log_id).sort()).toEqual(ids);
  expect(leaves.map(({ leaf_index }) => leaf_index)).toEqual(leaves.map((_, i) => i));
  const name = originOf(ledgerOrigin, tenantId);
  const checkpoint = verifyCheckpoint(ledger.checkpoint ?? '', [readVerifierLine(verifierLine({ name, publicKey }))]);
  expect([checkpoint.size, ledger.size]).toEqual([ids.length, ids.length]);
}

test('every row is in the tree once, in the order in which it came, and a late one comes last', async () => {
  const { db } = database.current;
  const tenantId = randomUUID();
  await insertRows(tenantId, 5001);
  await insertRows(tenantId, 1);
  await sequence();
  await sql`
    insert into audit_log (tenant_id, at, operation, entity_type, entity_id) values (${tenantId}, '2020-01-01', 'use', 'proxy', 'late')
  `.execute(db);
  await sequence();
  await expectWhole(tenantId);
  const { leaves } = await treeOf(tenantId);
  expect(leaves.at(-1)?.at).toBe('2020-01-01T00:00:00.000Z');
  expect(leaves.at(-1)?.kept_at).toBe(leaves.at(-2)?.kept_at);
});

slow('0.4 s')('workers at once, and rows that come meanwhile: each row once', async () => {
  const tenants = [randomUUID(), randomUUID()];
  const writing = (async () => {
    for (let i = 0; i < 40; i++) for (const tenantId of tenants) await insertRows(tenantId, 100);
  })();
  for (let i = 0; i < 10; i++) await Promise.all([sequence(), sequence(), sequence()]);
  await writing;
  await sequence();
  for (const tenantId of tenants) await expectWhole(tenantId);
});

test.each(['ledger_leaves', 'ledger_nodes', 'ledgers'])(
  'a worker that is stopped when it writes %s leaves nothing behind, and the next one goes on',
  async (table) => {
    const { db } = database.current;
    const tenantId = randomUUID();
    await insertRows(tenantId, 300);
    await sequence();
    await insertRows(tenantId, 300);
    await sql
      .raw(`
      create function stop() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$;
      create trigger stop before insert or update on ${table} for each row when (new.tenant_id = '${tenantId}') execute function stop()`)
      .execute(db);
    await expect(sequence()).rejects.toThrow();
    await sql.raw(`drop trigger stop on ${table}; drop function stop()`).execute(db);
    expect((await treeOf(tenantId)).leaves).toHaveLength(300);
    await sequence();
    await expectWhole(tenantId);
  },
);

test('rows from before the ledger come first, by time and id; without a key the tree is built and nothing signed', async () => {
  const { db } = database.current;
  const tenantId = randomUUID();
  await sql`alter table audit_log disable trigger note_audit_rows`.execute(db);
  await sql`
    insert into audit_log (tenant_id, at, operation, entity_type, entity_id, leaf_version)
    select ${tenantId}, timestamptz '2020-01-01' + (i % 7) * interval '1 hour', 'proxy.invoked', 'proxy', 'p', null from generate_series(1, 2500) i
  `.execute(db);
  await sql`alter table audit_log enable trigger note_audit_rows`.execute(db);
  await db.insertInto('ledgers').values({ tenant_id: tenantId, unsequenced_before: 2500 }).execute();
  await insertRows(tenantId, 3);
  await sequenceDue({ db, privateKey: undefined, ledgerOrigin });
  const { leaves, ids, ledger } = await treeOf(tenantId);
  expect([leaves.length, ids.length, ledger.checkpoint, ledger.unsequenced_before]).toEqual([2503, 2503, null, 0]);
  const order = leaves.map(({ at, log_id }) => `${at} ${log_id}`);
  expect(order.slice(0, 2500)).toEqual([...order.slice(0, 2500)].sort());
});

test('a tree that grows without the key has no checkpoint, and one again in the round after it is back, without a row', async () => {
  const { db } = database.current;
  const tenantId = randomUUID();
  await insertRows(tenantId, 3);
  await sequence();
  await expectWhole(tenantId);
  await insertRows(tenantId, 3);
  const withoutKey = () => sequenceDue({ db, privateKey: undefined, ledgerOrigin });
  await withoutKey();
  expect((await treeOf(tenantId)).ledger.checkpoint).toBeNull();
  await withoutKey();
  expect((await treeOf(tenantId)).ledger.checkpoint).toBeNull();
  expect(await sequence()).toBe(0);
  await expectWhole(tenantId);
});

test('a Tenant that is purged while the first row of its ledger is sequenced has a ledger that is closed', async () => {
  const { db } = database.current;
  const tenantId = await testRows(db).tenant();
  await sql`update tenants set closed_at = now() where id = ${tenantId}`.execute(db);
  const sequencing = await db.startTransaction().execute();
  await lockLedger(sequencing, tenantId);
  let isOver = false;
  const purging = deleteTenantRow(db, tenantId).finally(() => {
    isOver = true;
  });
  await eventually('the purge is over, or waits', async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `.execute(db);
    return isOver || rows.length > 0;
  });
  await sequencing.commit().execute();
  expect(await purging).toBe(true);
  const ledger = await db
    .selectFrom('ledgers')
    .select('closed_at')
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  expect(ledger).toEqual({ closed_at: expect.any(String) });
});
