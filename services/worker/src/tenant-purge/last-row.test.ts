import { randomBytes } from 'node:crypto';
import { recordClosing } from '@sluice/audit';
import type { Database } from '@sluice/database';
import { eventually, openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { deleteDueApplications } from '../application-expiry/application-expiry.queries.ts';
import { deleteExpiredKeys } from '../application-key-expiry/delete-expired-keys.ts';
import { testRows } from '../testing/test-rows.ts';
import { sweepDueCvcs, sweepExpiredTokens } from '../token-expiry/sweep-tokens.ts';

const database = useStack((stack) => openTestDatabase(stack));
const log = { info: () => undefined } as never;

const sweeps: [string, (db: Database) => Promise<unknown>][] = [
  ['tokens', (db) => sweepExpiredTokens({ db, log })],
  ['card verification codes', (db) => sweepDueCvcs({ db, log })],
  ['Applications', (db) => db.transaction().execute(deleteDueApplications)],
  ['keys of Applications', (db) => deleteExpiredKeys(db)],
];

async function dueTenant(): Promise<string> {
  const { db } = database.current;
  const rows = testRows(db);
  const tenant_id = await rows.tenant();
  const past = new Date(Date.now() - 1000).toISOString();
  await rows.tokens(tenant_id, 2);
  await sql`
    update tokens set expires_at = case when id = (select min(id) from tokens where tenant_id = ${tenant_id}) then ${past}::timestamptz end,
      cvc_ciphertext = 'x', cvc_due_at = ${past} where tenant_id = ${tenant_id}
  `.execute(db);
  for (const kind of ['expiry', 'cvc'] as const) {
    await db.insertInto('due_tokens').values({ tenant_id, kind, due_at: past }).execute();
  }
  await rows.application(tenant_id, new Date(past));
  const application_id = await rows.application(tenant_id);
  const key = { tenant_id, application_id, version: 2, key_hash: randomBytes(32), expires_at: past };
  await db.insertInto('application_keys').values(key).execute();
  return tenant_id;
}

/** As the API does. */
async function close(db: Database, tenantId: string): Promise<void> {
  await testRows(db).close(tenantId);
  await recordClosing(db, tenantId, null);
}

async function loggedOf(tenantId: string): Promise<string[]> {
  const { rows } = await sql<{ what: string }>`
    select log.entity_type || ' ' || log.operation as what
    from audit_log_arrivals cross join lateral unnest(ids) as id join audit_log as log on log.id = id.id
    where audit_log_arrivals.tenant_id = ${tenantId} order by arrival
  `.execute(database.current.db);
  return rows.map(({ what }) => what);
}

test.each(sweeps)('what is due of a closed Tenant writes no row behind its closing: %s', async (_name, sweep) => {
  const { db } = database.current;
  const [closed, open] = [await dueTenant(), await dueTenant()];
  await close(db, closed);
  await sweep(db);
  expect(await loggedOf(closed)).toEqual(['tenant delete']);
  expect(await loggedOf(open)).not.toEqual([]);
});

test.each(sweeps)('the closing comes after what a sweep writes that began before it: %s', async (_name, sweep) => {
  const { db } = database.current;
  const tenantId = await dueTenant();
  const gate = await holdRowsOf(tenantId);
  const swept = sweep(db);
  await untilAwaited(1);
  const closed = close(db, tenantId);
  await untilAwaited(2);
  await gate.open();
  await Promise.all([swept, closed]);
  const logged = await loggedOf(tenantId);
  expect(logged.length).toBeGreaterThan(1);
  expect(logged.at(-1)).toBe('tenant delete');
});

/** Rows of the log wait, but not the closing. */
async function holdRowsOf(tenantId: string) {
  const { db } = database.current;
  const lock = sql`select pg_advisory_xact_lock(hashtextextended(${tenantId}, 0))`;
  await sql
    .raw(`
      create or replace function wait() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(hashtextextended(new.tenant_id::text, 0)); return new; end $$;
      create trigger "waits ${tenantId}" before insert on audit_log for each row
      when (new.tenant_id = '${tenantId}' and new.entity_type <> 'tenant') execute function wait();
    `)
    .execute(db);
  const holder = await db.startTransaction().execute();
  await lock.execute(holder);
  return { open: () => holder.commit().execute() };
}

async function untilAwaited(statements: number): Promise<void> {
  await eventually('statements wait for locks', async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `.execute(database.current.db);
    return rows.length === statements;
  });
}
