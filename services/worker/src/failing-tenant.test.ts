import { randomUUID } from 'node:crypto';
import { serviceLogger } from '@sluice/service-runtime';
import { openTestDatabase, useStack } from '@sluice/testing';
import { noteDue } from '@sluice/vault';
import { sql } from 'kysely';
import { sweepOverlooked } from './overlooked/sweep-overlooked.ts';
import { purgeTenant, sweepClosedTenants } from './tenant-purge/purge-tenant.ts';
import { testRows } from './testing/test-rows.ts';
import { sweepDueCvcs, sweepExpiredTokens } from './token-expiry/sweep-tokens.ts';

const log = serviceLogger({ service: 'test', level: 'silent' });

const stores = useStack(async (stack) => {
  const { db } = await openTestDatabase(stack);
  return { db, rows: testRows(db), context: { db, log } };
});

const past = new Date(Date.now() - 1000).toISOString();

async function poison(tenantId: string): Promise<void> {
  const fail = `create or replace function fail() returns trigger language plpgsql as
    $$ begin raise exception 'the shard is away'; end $$`;
  await sql.raw(fail).execute(stores.current.db);
  for (const table of ['tokens', 'idempotency_records']) {
    await sql
      .raw(
        `create trigger "away ${randomUUID()}" before update or delete on ${table} for each row
        when (old.tenant_id = '${tenantId}') execute function fail()`,
      )
      .execute(stores.current.db);
  }
}

async function dueTenant(): Promise<string> {
  const { db, rows } = stores.current;
  const tenantId = await rows.tenant();
  const row = {
    tenant_id: tenantId,
    type: 'card',
    data_ciphertext: Buffer.from('x'),
    containers: ['/'],
    metadata: '{}',
  };
  const dates = [
    { expires_at: past, cvc_due_at: null },
    { expires_at: null, cvc_due_at: past },
  ];
  const tokens = dates.map((each) => ({ ...row, ...each, id: randomUUID(), active_month: '2026-01-01' }));
  await db.insertInto('tokens').values(tokens).execute();
  await noteDue(db, tenantId, dates);
  const record = { tenant_id: tenantId, application_id: randomUUID(), claim_id: randomUUID() };
  const hashes = { request_hash: Buffer.from('r'), body_hash: Buffer.from('b') };
  const created_at = new Date(Date.now() - 25 * 3_600_000).toISOString();
  await db
    .insertInto('idempotency_records')
    .values({ ...record, ...hashes, created_at, locked_until: created_at })
    .execute();
  return tenantId;
}

async function left(tenantId: string) {
  const { db } = stores.current;
  const tokens = await db.selectFrom('tokens').select('cvc_due_at').where('tenant_id', '=', tenantId).execute();
  const records = db.selectFrom('idempotency_records').select('tenant_id').where('tenant_id', '=', tenantId);
  return {
    tokens: tokens.length,
    codes: tokens.filter(({ cvc_due_at }) => cvc_due_at !== null).length,
    records: (await records.execute()).length,
    tenants: (await db.selectFrom('tenants').select('id').where('id', '=', tenantId).execute()).length,
  };
}

test('a Tenant whose rows cannot be written stops no other: expiry, codes, kept answers, purges', async () => {
  const { rows, context, db } = stores.current;
  const tenants = [await dueTenant(), await dueTenant(), await dueTenant()];
  const [first = '', poisoned = '', last = ''] = tenants;
  await poison(poisoned);
  const failure = { message: '1 of 3 Tenants failed; the others are done' };
  await expect(sweepExpiredTokens(context)).rejects.toMatchObject(failure);
  await expect(sweepDueCvcs(context)).rejects.toMatchObject(failure);
  await expect(sweepOverlooked(db)).rejects.toMatchObject(failure);
  const swept = { tokens: 1, codes: 0, records: 0, tenants: 1 };
  expect(await Promise.all(tenants.map(left))).toEqual([swept, { tokens: 2, codes: 1, records: 1, tenants: 1 }, swept]);
  await expect(sweepExpiredTokens(context)).rejects.toThrow('Tenants failed'); // it is not forgotten

  for (const each of tenants) await rows.close(each);
  await expect(sweepClosedTenants(context)).rejects.toMatchObject(failure);
  expect([(await left(first)).tenants, (await left(poisoned)).tenants, (await left(last)).tenants]).toEqual([0, 1, 0]);
  await expect(purgeTenant(poisoned, context)).rejects.toThrow('the shard is away');
});
