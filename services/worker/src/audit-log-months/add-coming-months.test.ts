import { randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import { openTestDatabase, untilLockIsAwaited } from '@sluice/testing';
import { sql } from 'kysely';
import { addComingMonths } from './add-coming-months.ts';

function monthsAway(count: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + count, 15)).toISOString();
}

const partOf = (parent: string, at: string) => `${parent}_${at.slice(0, 7).replace('-', '_')}`;

/** In the last month that its migration covers; no worker has added months. */
async function openDatabase(stack: AsyncDisposableStack): Promise<Database> {
  const { db } = await openTestDatabase(stack);
  for (const parent of ['audit_log', 'audit_log_tokens']) {
    for (const count of [1, 2]) await sql`drop table ${sql.id(partOf(parent, monthsAway(count)))}`.execute(db);
  }
  await sql`alter function add_audit_log_month set lock_timeout = '1min'`.execute(db); // however busy the machine is
  return db;
}

const insertRow = (db: Database, at: string) =>
  sql`
    insert into audit_log (tenant_id, at, operation, entity_type, entity_id)
    values (${randomUUID()}, ${at}, 'read', 'token', ${randomUUID()})
  `.execute(db);

async function placesOf(db: Database) {
  const { rows } = await sql<{ row: string; token: string }>`
    select log.tableoid::regclass::text as row, token.tableoid::regclass::text as token
    from audit_log as log join audit_log_tokens as token on token.log_id = log.id order by log.at
  `.execute(db);
  return rows;
}

const inMonth = (at: string) => ({ row: partOf('audit_log', at), token: partOf('audit_log_tokens', at) });
const inDefault = { row: 'audit_log_default', token: 'audit_log_tokens_default' };
const inBefore = { row: 'audit_log_before', token: 'audit_log_tokens_before' };

async function countPartitions(db: Database): Promise<number | undefined> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_inherits where inhparent = 'audit_log'::regclass
  `.execute(db);
  return rows[0]?.count;
}

test('rows of a month that comes go to its partition, also those that came before it was added', async () => {
  await using stack = new AsyncDisposableStack();
  const db = await openDatabase(stack);
  await insertRow(db, monthsAway(0));
  await insertRow(db, monthsAway(1));
  expect(await placesOf(db)).toEqual([inBefore, inDefault]);
  await addComingMonths(db);
  expect(await placesOf(db)).toEqual([inBefore, inMonth(monthsAway(1))]);
  await insertRow(db, monthsAway(2));
  await insertRow(db, monthsAway(3));
  expect((await placesOf(db)).slice(2)).toEqual([inMonth(monthsAway(2)), inDefault]);
});

test('where all months are there, nothing is added', async () => {
  await using stack = new AsyncDisposableStack();
  const db = await openDatabase(stack);
  await addComingMonths(db);
  const partitions = await countPartitions(db);
  await addComingMonths(db);
  expect([partitions, await countPartitions(db)]).toEqual([4, 4]);
});

test('many workers at once, while rows are written: each month is added once, and no row is lost', async () => {
  await using stack = new AsyncDisposableStack();
  const db = await openDatabase(stack);
  const writing = (async () => {
    for (let i = 0; i < 200; i++) await insertRow(db, monthsAway(1 + (i % 2)));
  })();
  await Promise.all(Array.from({ length: 4 }, () => addComingMonths(db)));
  await writing;
  const places = await placesOf(db);
  expect(places).toHaveLength(200);
  expect(places.filter(({ row }) => row === inMonth(monthsAway(1)).row)).toHaveLength(100);
  expect(places.filter(({ row }) => row === inMonth(monthsAway(2)).row)).toHaveLength(100);
  expect(await countPartitions(db)).toBe(4);
});

test('a row that is being written when its month is added is in its partition', async () => {
  await using stack = new AsyncDisposableStack();
  const db = await openDatabase(stack);
  const writer = await db.startTransaction().execute();
  await insertRow(writer, monthsAway(1));
  const adding = addComingMonths(db);
  await untilLockIsAwaited(db);
  await writer.commit().execute();
  await adding;
  expect(await placesOf(db)).toEqual([inMonth(monthsAway(1))]);
});
