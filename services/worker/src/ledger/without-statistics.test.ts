import { randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import { countRowsRead, openTestDatabase, recordStatements, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { readRowsBefore, takeArrivals } from './ledger.queries.ts';

const batch = 500;
const limits = { mostRows: batch, mostBytes: 1024 * batch };
const waiting = 6000;
const sequenced = 10_000;

interface Filled {
  db: Database;
  tenantId: string;
}

async function openWithoutAutovacuum(stack: AsyncDisposableStack): Promise<Filled> {
  const { db } = await openTestDatabase(stack);
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'r' and relname ~ '^(audit_log|ledger)'`.execute(db);
  for (const { name } of rows) await sql`alter table ${sql.ref(name)} set (autovacuum_enabled = false)`.execute(db);
  return { db, tenantId: randomUUID() };
}

/** As the trigger notes them, one arrival for each row. */
async function addRows({ db, tenantId }: Filled, count: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`
      with added as (
        insert into audit_log (tenant_id, operation, entity_type, entity_id)
        select ${tenantId}, 'use', 'proxy', 'p' from generate_series(1, ${count}::int) returning id, at
      )
      insert into audit_log_arrivals (tenant_id, ids, times) select ${tenantId}, array[id], array[at] from added
    `.execute(tx);
  });
}

async function sequenceAll({ db, tenantId }: Filled): Promise<void> {
  await sql`
    insert into ledger_leaves (tenant_id, leaf_index, log_id, at, kept_at, leaf_version, leaf_hash)
    select tenant_id, row_number() over () - 1, id, at, at, 1, '' from audit_log where tenant_id = ${tenantId}
  `.execute(db);
  await sql`delete from audit_log_arrivals where tenant_id = ${tenantId}`.execute(db);
}

const never = useStack(async (stack) => {
  const filled = await openWithoutAutovacuum(stack);
  await addRows(filled, sequenced);
  await sequenceAll(filled);
  await addRows(filled, waiting);
  return filled;
});

/** Statistics of a moment when nothing waited, which is when autovacuum comes to a quiet installation. */
const tooEarly = useStack(async (stack) => {
  const filled = await openWithoutAutovacuum(stack);
  await addRows(filled, sequenced);
  await sequenceAll(filled);
  await sql`vacuum analyze audit_log, audit_log_arrivals, ledger_leaves`.execute(filled.db);
  await addRows(filled, waiting);
  return filled;
});

describe.each([
  ['without statistics', () => never.current],
  ['with statistics of a moment when nothing waited', () => tooEarly.current],
])('%s', (_name, open) => {
  test('a batch reads its rows, however many wait', async () => {
    const { db, tenantId } = open();
    const tx = await db.startTransaction().execute();
    const recorded = recordStatements(tx);
    const { taken, rows } = await takeArrivals(recorded.db, tenantId, limits);
    await tx.rollback().execute();
    expect([taken, rows.length]).toEqual([batch, batch]);
    const again = await db.startTransaction().execute();
    const counts: number[] = [];
    for (const statement of recorded.statements) {
      if (statement.sql.includes('set_config')) await again.executeQuery(statement);
      else counts.push(...(await countRowsRead(again as unknown as Database, [statement])));
    }
    await again.rollback().execute();
    expect(counts).toHaveLength(1);
    expect(counts[0]).toBeGreaterThanOrEqual(2 * batch);
    expect(counts[0]).toBeLessThan(4 * batch);
  });

  test('so does one of rows from before the ledger', async () => {
    const { db, tenantId } = open();
    const tx = await db.startTransaction().execute();
    const recorded = recordStatements(tx);
    await sql`update audit_log set leaf_version = null where tenant_id = ${tenantId}`.execute(tx);
    const { rows, isRest } = await readRowsBefore(recorded.db, tenantId, { before_at: null, before_id: null }, limits);
    expect([rows.length, isRest]).toEqual([batch, false]);
    const [read] = await countRowsRead(tx as unknown as Database, recorded.statements.slice(-1));
    await tx.rollback().execute();
    // Each row twice, because Postgres keeps the old one until the update ends
    expect(read).toBeLessThan(3 * batch);
  });
});

test('the control: left to itself, Postgres reads all that wait for the first of them', async () => {
  const { db, tenantId } = never.current;
  const first = sql`select arrival, ids, times from audit_log_arrivals where tenant_id = ${tenantId} order by arrival limit ${batch}`;
  const [read] = await countRowsRead(db, [first.compile(db)]);
  expect(read).toBe(waiting);
});

test('what does not fit stays: whole arrivals and the rest of one', async () => {
  const { db } = never.current;
  const tenantId = randomUUID();
  for (const count of [3, 3, 3]) {
    await sql`
      insert into audit_log (tenant_id, operation, entity_type, entity_id)
      select ${tenantId}, 'use', 'proxy', 'p' from generate_series(1, ${count}::int)`.execute(db);
  }
  const { rows: all } = await sql<{ id: string }>`
    select unnest(ids) as id from audit_log_arrivals where tenant_id = ${tenantId} order by arrival`.execute(db);
  const seen: string[] = [];
  for (const [mostRows, arrivals] of [
    [4, 2],
    [1, 1],
    [4, 2],
    [4, 0],
  ] as const) {
    const { rows, taken } = await db
      .transaction()
      .execute((tx) => takeArrivals(tx, tenantId, { mostRows, mostBytes: 1024 }));
    expect(taken).toBe(arrivals);
    seen.push(...rows.map(({ id }) => id));
  }
  expect(seen).toEqual(all.map(({ id }) => id));
});
