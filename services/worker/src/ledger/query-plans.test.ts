import { randomUUID } from 'node:crypto';
import { countRowsRead, openTestDatabase, recordStatements, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { listDueTenants, lockLedger, takeArrivals } from './ledger.queries.ts';
import { listUnwitnessed } from './witnessed.queries.ts';

const ledgerCount = 5000;
const leafCount = 50_000;
const batch = 500;

/** Many ledgers have nothing to do, and a large one has waiting rows. */
const large = useStack(async (stack) => {
  const { db } = await openTestDatabase(stack);
  const tenantId = randomUUID();
  await sql`
    insert into ledgers (tenant_id, size, checkpoint, witnessed_size)
    select gen_random_uuid(), 10, 'signed', 10 from generate_series(1, ${ledgerCount}::int)
  `.execute(db);
  await sql`
    insert into audit_log (tenant_id, operation, entity_type, entity_id)
    select ${tenantId}, 'use', 'proxy', 'p' from generate_series(1, ${leafCount}::int)
  `.execute(db);
  await sql`
    insert into ledger_leaves (tenant_id, leaf_index, log_id, at, kept_at, leaf_version, leaf_hash)
    select tenant_id, row_number() over () - 1, id, at, at, 1, '' from audit_log where tenant_id = ${tenantId}
  `.execute(db);
  await sql`delete from audit_log_arrivals`.execute(db);
  await sql`insert into ledgers (tenant_id, size) values (${tenantId}, ${leafCount})`.execute(db);
  for (let i = 0; i < 4; i++) {
    await sql`
      insert into audit_log (tenant_id, operation, entity_type, entity_id)
      select ${tenantId}, 'use', 'proxy', 'p' from generate_series(1, ${batch}::int)
    `.execute(db);
  }
  await sql`analyze audit_log, audit_log_arrivals, ledgers, ledger_leaves`.execute(db);
  return { db, tenantId };
});

/** Each statement is measured before any of the work is done. */
async function readBy(work: (db: ReturnType<typeof recordStatements>['db']) => Promise<unknown>): Promise<number[]> {
  const { db } = large.current;
  const tx = await db.startTransaction().execute();
  const recorded = recordStatements(tx);
  await work(recorded.db);
  await tx.rollback().execute();
  return countRowsRead(db, recorded.statements);
}

test('a round that finds little to do reads little, however many ledgers there are', async () => {
  for (const counts of [
    await readBy((db) => listDueTenants(db, { isUnsignedDue: true })),
    await readBy((db) => listUnwitnessed(db)),
    await readBy((db) => lockLedger(db, large.current.tenantId)),
  ]) {
    expect(Math.max(...counts)).toBeLessThan(20);
  }
  const { db } = large.current;
  const [all = 0] = await countRowsRead(db, [sql`select from ledgers where size <> witnessed_size`.compile(db)]);
  expect(all).toBeGreaterThan(ledgerCount); // control: what a look at each of them reads
});

test('a batch reads its rows, however large the tree is', async () => {
  const counts = await readBy((db) =>
    takeArrivals(db, large.current.tenantId, { mostRows: batch, mostBytes: 1024 * batch }),
  );
  const read = Math.max(...counts);
  expect(read).toBeGreaterThanOrEqual(batch);
  expect(read).toBeLessThan(4 * batch);
});
