import { randomBytes } from 'node:crypto';
import { recordChange, systemAct } from '@sluice/audit';
import type { Database, Queryable } from '@sluice/database';
import { createTestDatabase, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { deleteDueApplications } from '../application-expiry/application-expiry.queries.ts';
import { deleteExpiredKeys } from '../application-key-expiry/delete-expired-keys.ts';
import { testRows } from '../testing/test-rows.ts';
import { sweepDueCvcs, sweepExpiredTokens } from '../token-expiry/sweep-tokens.ts';

const database = useStack((stack) => createTestDatabase(stack));
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
async function close(tx: Queryable, tenantId: string): Promise<void> {
  await tx.selectFrom('tenants').select('id').where('id', '=', tenantId).forUpdate().execute();
  await recordChange(tx, systemAct(tenantId), { operation: 'delete', entityType: 'tenant', entityId: tenantId });
  await tx.updateTable('tenants').set({ closed_at: new Date().toISOString() }).where('id', '=', tenantId).execute();
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

test.each(sweeps)('nor does a sweep that began before the closing ended: %s', async (_name, sweep) => {
  const { db } = database.current;
  const tenantId = await dueTenant();
  const closing = await db.startTransaction().execute();
  await close(closing, tenantId);
  const swept = sweep(db);
  await untilLockIsAwaited(db);
  await closing.commit().execute();
  await swept;
  expect(await loggedOf(tenantId)).toEqual(['tenant delete']);
});
