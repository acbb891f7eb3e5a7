import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import { subtreesOf } from '@sluice/ledger';
import { countRowsRead, openTestDatabase, recordStatements, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { dropOldRows } from './drop-old-rows.ts';
import { giveUpRows } from './retention.queries.ts';

const leafCount = 40_000;
const oldCount = 36_000;
const signer = { privateKey: generateKeyPairSync('ed25519').privateKey, ledgerOrigin: 'sluice.example' };
const keepFrom = '2026-02-01T00:00:00Z';

const database = useStack((stack) => openTestDatabase(stack));

async function fillLedger(db: Database): Promise<string> {
  const tenantId = randomUUID();
  await db.insertInto('tenants').values({ id: tenantId, owner_id: randomUUID(), name: 'T' }).execute();
  const frontier = Buffer.alloc(32 * subtreesOf(leafCount).length);
  await db.insertInto('ledgers').values({ tenant_id: tenantId, size: leafCount, frontier }).execute();
  await sql`
    insert into ledger_leaves (tenant_id, leaf_index, log_id, at, kept_at, leaf_version, leaf_hash)
    select ${tenantId}::uuid, i, gen_random_uuid(), kept_at, kept_at, 1, '' from (
      select i, case when i < ${oldCount}::int then timestamptz '2026-01-10Z' else timestamptz '2026-02-10Z' end as kept_at
      from generate_series(0, ${leafCount}::int - 1) as i
    ) as leaf
  `.execute(db);
  await sql`
    insert into ledger_nodes (tenant_id, level, node_index, hash)
    select ${tenantId}::uuid, 4, i, '' from generate_series(0, ${leafCount}::int / 16 - 1) as i
  `.execute(db);
  await sql`analyze ledgers, ledger_leaves, ledger_nodes`.execute(db);
  return tenantId;
}

const droppedOf = (db: Database, tenantId: string) =>
  db.selectFrom('ledgers').select('dropped').where('tenant_id', '=', tenantId).executeTakeFirstOrThrow();

test('a ledger gives up a month of any size by reading a few of its leaves', async () => {
  const { db } = database.current;
  const tenantId = await fillLedger(db);
  const recorded = recordStatements(db);
  const tx = await recorded.db.startTransaction().execute();
  await giveUpRows(tx, { tenantId, keepFrom, signer });
  expect(await droppedOf(tx, tenantId)).toEqual({ dropped: oldCount });
  await tx.rollback().execute();
  const statements = recorded.statements.slice(0, -1);
  const read = (await countRowsRead(db, statements)).reduce((sum, rows) => sum + rows, 0);
  expect([read > 10, read < 100]).toEqual([true, true]);
  const [walked = 0] = await countRowsRead(db, [
    sql`
      select from ledger_leaves where tenant_id = ${tenantId} and kept_at >= ${keepFrom}::timestamptz
      order by leaf_index limit 1
    `.compile(db),
  ]);
  expect(walked).toBeGreaterThan(oldCount); // control: what a full walk reads
});

test('a ledger with a leaf missing is named, and the others give up their rows and are pruned, in statements of bounded size', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openTestDatabase(stack);
  const tenants = [await fillLedger(db), await fillLedger(db)].sort();
  const [broken = '', other = ''] = tenants;
  await sql`delete from ledger_leaves where tenant_id = ${broken} and leaf_index = ${leafCount / 2}`.execute(db);
  const recorded = recordStatements(db);
  await expect(dropOldRows({ db: recorded.db, retentionDays: 1, keepClosedDays: 0, ...signer })).rejects.toThrow(
    `The ledger of Tenant ${broken} `,
  );
  expect(await droppedOf(db, other)).toEqual({ dropped: leafCount });
  const left = (table: 'ledger_leaves' | 'ledger_nodes') =>
    db.selectFrom(table).select('tenant_id').where('tenant_id', '=', other).execute();
  expect([await left('ledger_leaves'), await left('ledger_nodes')]).toEqual([[], expect.any(Array)]);
  expect((await left('ledger_nodes')).length).toBeLessThan(16);
  const deletes = recorded.statements.filter(({ sql: text }) => /delete from ledger_nodes/.test(text));
  expect(deletes).toHaveLength(Math.floor(leafCount / 16 / 2000) + 1);
});
