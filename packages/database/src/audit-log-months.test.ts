import { randomUUID } from 'node:crypto';
import { openEmptyDatabase } from '@sluice/testing';
import { sql } from 'kysely';
import { type Database, migrate } from './index.ts';

const tenantId = randomUUID();

/** The previous version knows no verb and no message. */
async function insertAsBefore(db: Database, at: string, tokenId: string): Promise<void> {
  await sql`
    insert into audit_log (tenant_id, at, operation, entity_type, entity_id, detail)
    values (${tenantId}, ${at}, 'proxy.invoked', 'proxy', 'p', jsonb_build_object('token_ids', array[${tokenId}::text]))
    on conflict do nothing
  `.execute(db);
}

const tokensOf = async (db: Database) =>
  (await db.selectFrom('audit_log_tokens').select('token_id').orderBy('token_id').execute()).map((row) => row.token_id);

async function placesOf(db: Database) {
  const { rows } = await sql<{ place: string; arrived: boolean }>`
    select tableoid::regclass::text as place,
      exists (select from audit_log_arrivals as arrival where log.id = any(arrival.ids)) as arrived
    from audit_log as log order by at
  `.execute(db);
  return rows;
}

const months = (count: number) => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + count, 15));
};
const partOf = (moment: Date) => `audit_log_${moment.toISOString().slice(0, 7).replace('-', '_')}`;

test('rows from before stay where they are and are counted; what the previous version writes afterwards is noted', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openEmptyDatabase(stack);
  await migrate(db, { upTo: '0030-audit-log-messages' });
  await insertAsBefore(db, '2020-01-01T00:00:00Z', 'first');
  await insertAsBefore(db, '2020-01-02T00:00:00Z', 'second');
  await migrate(db);
  await insertAsBefore(db, '2020-01-03T00:00:00Z', 'late');
  await insertAsBefore(db, months(1).toISOString(), 'next month');
  await insertAsBefore(db, '2120-01-01T00:00:00Z', 'of a clock that is ahead');
  expect(await placesOf(db)).toEqual([
    { place: 'audit_log_before', arrived: false },
    { place: 'audit_log_before', arrived: false },
    { place: 'audit_log_before', arrived: true },
    { place: partOf(months(1)), arrived: true },
    { place: 'audit_log_default', arrived: true },
  ]);
  expect(await tokensOf(db)).toEqual(['first', 'late', 'next month', 'of a clock that is ahead', 'second']);
  expect(await db.selectFrom('ledgers').select(['tenant_id', 'unsequenced_before']).execute()).toEqual([
    { tenant_id: tenantId, unsequenced_before: 2 },
  ]);
});

test('a month that is added takes its rows out of the default partition; one that is there or past is left', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = await openEmptyDatabase(stack);
  await migrate(db);
  const add = async (month: Date) => {
    const { rows } = await sql<{ added: boolean }>`
      select add_audit_log_month(date_trunc('month', ${month.toISOString()}::timestamptz at time zone 'UTC')::date) as added
    `.execute(db);
    return rows[0]?.added;
  };
  await insertAsBefore(db, months(7).toISOString(), 'early');
  expect(await Promise.all([add(months(7)), add(months(7))])).toEqual(expect.arrayContaining([true, false]));
  expect([await add(months(1)), await add(months(0)), await add(months(-20))]).toEqual([false, false, false]);
  expect(await placesOf(db)).toEqual([{ place: partOf(months(7)), arrived: true }]);
  expect(await tokensOf(db)).toEqual(['early']);
});
