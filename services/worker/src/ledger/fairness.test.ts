import { generateKeyPairSync } from 'node:crypto';
import { openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { testRows } from '../testing/test-rows.ts';
import { mostPasses, sequenceDue } from './sequence.ts';

const database = useStack((stack) => openTestDatabase(stack));
const { privateKey } = generateKeyPairSync('ed25519');

const sequence = () => sequenceDue({ db: database.current.db, privateKey, ledgerOrigin: 'sluice.example' });

const insertRows = (tenantId: string, count = 1) =>
  sql`
    insert into audit_log (tenant_id, operation, entity_type, entity_id)
    select ${tenantId}, 'use', 'proxy', 'p' from generate_series(1, ${count}::int)
  `.execute(database.current.db);

async function sizeOf(tenantId: string): Promise<number | undefined> {
  const { db } = database.current;
  return (await db.selectFrom('ledgers').select('size').where('tenant_id', '=', tenantId).executeTakeFirst())?.size;
}

const createTenants = async (count: number) => {
  const rows = testRows(database.current.db);
  return (await Promise.all(Array.from({ length: count }, () => rows.tenant()))).sort();
};

/** A round without a limit of its own would still end with the rows. */
const mostRows = 2 * mostPasses;

/** Each pass over the busy Tenant adds another row to it; the third adds one to the late Tenant. */
async function keepBusy(stack: AsyncDisposableStack, busy: string, late: string): Promise<void> {
  const { db } = database.current;
  const row = (tenantId: string) =>
    `insert into audit_log (tenant_id, operation, entity_type, entity_id) values ('${tenantId}', 'use', 'proxy', 'p');`;
  await sql
    .raw(`
    create function bring() returns trigger language plpgsql as $$ begin
      if new.size < ${mostRows} then ${row(busy)} end if;
      if new.size = 3 then ${row(late)} end if;
      return null;
    end $$;
    create trigger bring after update on ledgers for each row when (new.tenant_id = '${busy}') execute function bring()`)
    .execute(db);
  stack.defer(async () => {
    await sql.raw('drop trigger bring on ledgers; drop function bring()').execute(db);
  });
}

test('a Tenant whose rows never end neither keeps out one that becomes due meanwhile, nor a round from its end', async () => {
  await using stack = new AsyncDisposableStack();
  const [busy = '', late = ''] = await createTenants(2);
  await insertRows(busy);
  await keepBusy(stack, busy, late);
  await sequence();
  expect(await sizeOf(late)).toBe(1);
  expect(await sizeOf(busy)).toBe(mostPasses);
});

test.each<[string, (tenantId: string) => Promise<unknown>]>([
  [
    'whose frontier does not fit its size',
    (id) => sql`update ledgers set size = 5 where tenant_id = ${id}`.execute(database.current.db),
  ],
  [
    'in whose next place a leaf stands already',
    (id) =>
      sql`
        insert into ledger_leaves (tenant_id, leaf_index, log_id, at, kept_at, leaf_version, leaf_hash)
        values (${id}, 1, gen_random_uuid(), now(), now(), 1, '')
      `.execute(database.current.db),
  ],
])('a ledger %s is named, and holds up no other', async (_name, breakLedger) => {
  const tenants = await createTenants(3);
  const [broken = '', ...others] = tenants;
  for (const tenantId of tenants) await insertRows(tenantId);
  await sequence();
  await breakLedger(broken);
  for (const tenantId of tenants) await insertRows(tenantId, 5);
  await expect(sequence()).rejects.toThrow(`The ledger of Tenant ${broken} `);
  for (const tenantId of others) expect(await sizeOf(tenantId)).toBe(6);
  await sql`delete from audit_log_arrivals where tenant_id = ${broken}`.execute(database.current.db);
});
