import { randomUUID } from 'node:crypto';
import { type Database, throughIndexes } from '@sluice/database';
import { countRowsRead, openTestDatabase, recordStatements, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { countFilteredLogs, type LogFilter, mostCounted } from './log.queries.ts';
import { exportLog } from './log-export.ts';

const tenantId = randomUUID();
const rowCount = 30_000;

/** A table that has filled since autovacuum came last: Postgres knows nothing of its rows. */
const open = useStack(async (stack) => {
  const { db } = await openTestDatabase(stack);
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'r' and relname ~ '^(audit_log|ledger)'`.execute(db);
  for (const { name } of rows) await sql`alter table ${sql.ref(name)} set (autovacuum_enabled = false)`.execute(db);
  await db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`
      insert into audit_log (tenant_id, at, operation, entity_type, entity_id)
      select ${tenantId}, now() - n * interval '1 second', case when n % 100 = 7 then 'update' else 'use' end, 'proxy', 'p'
      from generate_series(1, ${rowCount}::int) n`.execute(tx);
    await sql`
      insert into ledger_leaves (tenant_id, leaf_index, log_id, at, kept_at, leaf_version, leaf_hash)
      select tenant_id, row_number() over (order by at, id) - 1, id, at, at, 1, '' from audit_log`.execute(tx);
    await sql`insert into ledgers (tenant_id, size) values (${tenantId}, ${rowCount})`.execute(tx);
  });
  return db;
});

/** Each statement as it ran, those that count with the settings that they ran under. */
async function rowsReadBy(work: (db: Database) => Promise<unknown>): Promise<number[]> {
  const recorded = recordStatements(open.current);
  await work(recorded.db);
  const counts: number[] = [];
  let isThroughIndexes = false;
  for (const statement of recorded.statements) {
    if (statement.sql.includes('set_config')) isThroughIndexes = true;
    else if (/^\s*(with|select)/i.test(statement.sql)) {
      const count = (db: Database) => countRowsRead(db, [statement]);
      const counted = isThroughIndexes
        ? throughIndexes(open.current, (tx) => count(tx as Database))
        : count(open.current);
      counts.push(...(await counted));
      isThroughIndexes = false;
    }
  }
  return counts;
}

test.each<[string, LogFilter, number]>([
  ['all rows', {}, 2100],
  ['a filter that all rows match', { entity_type: 'proxy' }, mostCounted + 50],
  ['a start date', { start_date: '2020-01-01T00:00:00Z' }, mostCounted + 50],
  ['a filter that few rows match', { operation: 'update' }, 4 * (rowCount / 100)],
  ['an actor without rows', { actor_id: randomUUID() }, 50],
])('without statistics an export of %s reads no more than with them', async (_name, filter, most) => {
  const counts = await rowsReadBy(async (db) => {
    for await (const _piece of exportLog(db, { tenantId, filter, start: 0, format: 'ndjson' })) break;
  });
  expect(Math.max(...counts)).toBeLessThanOrEqual(most);
});

test('the control: left to itself, Postgres reads all rows to count the first of them', async () => {
  const db = open.current;
  const first = sql`select from audit_log as log where tenant_id = ${tenantId} and at >= '2020-01-01' order by at desc limit ${mostCounted + 1}`;
  const [left = 0] = await countRowsRead(db, [sql`select count(*) from (${first}) as counted`.compile(db)]);
  expect(left).toBe(rowCount);
  expect(await countFilteredLogs(db, tenantId, { start_date: '2020-01-01T00:00:00Z' })).toBe(mostCounted + 1);
});
