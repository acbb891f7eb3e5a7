import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import { openTestDatabase, slow, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { batchLimits, sequenceDue } from './sequence.ts';

const database = useStack((stack) => openTestDatabase(stack));
const { privateKey } = generateKeyPairSync('ed25519');

const rowBytes = 1024 * 1024;
const rowCount = 12;

/** `bytes` of detail in each row; all rows are one arrival. Postgres stores them in a fortieth, or hardly in less. */
async function insertRows(tenantId: string, { count = rowCount, bytes = rowBytes, isDense = false } = {}) {
  const text = isDense
    ? sql`(select string_agg(md5(n::text), '') from generate_series(1, ${bytes}::int / 32) as n)`
    : sql`repeat(md5(i::text), ${bytes}::int / 32)`;
  await sql`
    insert into audit_log (tenant_id, operation, entity_type, entity_id, detail)
    select ${tenantId}, 'create', 'token', 't', jsonb_build_object('text', ${text})
    from generate_series(1, ${count}::int) as i
  `.execute(database.current.db);
}

/** The bytes of detail in each result of a statement that gives rows of the log. */
function spyOnResults(db: Database): { db: Database; results: number[] } {
  const results: number[] = [];
  const spied = db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      const details = result.rows.flatMap(({ detail }) => (detail === undefined ? [] : [detail]));
      if (details.length > 0) results.push(Buffer.byteLength(JSON.stringify(details)));
      return result;
    },
  });
  return { db: spied, results };
}

async function leavesOf(tenantId: string) {
  const { db } = database.current;
  const leaves = db.selectFrom('ledger_leaves').select('log_id').where('tenant_id', '=', tenantId);
  return (await leaves.orderBy('leaf_index').execute()).map(({ log_id }) => log_id);
}

async function arrivedOf(tenantId: string) {
  const { rows } = await sql<{ id: string }>`
    select each.id from audit_log_arrivals cross join lateral unnest(ids) with ordinality as each(id, position)
    where tenant_id = ${tenantId} order by arrival, position
  `.execute(database.current.db);
  return rows.map(({ id }) => id);
}

const { mostBytes } = batchLimits;
const mostInOne = mostBytes + rowBytes + 1024;

test.each([
  ['that Postgres compresses', false],
  ['that it cannot compress', true],
])(
  'rows of 1 MB %s are sequenced a few at a time, in their order, and keep no other Tenant waiting',
  async (_name, isDense) => {
    const [large = '', other = ''] = [randomUUID(), randomUUID()].sort();
    await insertRows(large, { count: 3, bytes: 64 });
    await insertRows(large, { isDense });
    await insertRows(large, { count: 3, bytes: 64 });
    await insertRows(other, { count: 2, bytes: 64 });
    const arrived = await arrivedOf(large);
    const { db, results } = spyOnResults(database.current.db);
    expect(await sequenceDue({ db, privateKey, ledgerOrigin: 'sluice.example' })).toBe(rowCount + 8);
    expect(await leavesOf(large)).toEqual(arrived);
    expect(await leavesOf(other)).toHaveLength(2);
    expect(await arrivedOf(large)).toEqual([]);
    expect(Math.max(...results)).toBeGreaterThan(mostBytes / 2); // control: not one by one
    expect(Math.max(...results)).toBeLessThanOrEqual(mostInOne);
    expect(results[1]).toBeLessThan(1024); // the other Tenant's, before the rest of the large one's
  },
);

slow('1.1 s')('rows of 1 MB from before the ledger are sequenced a few at a time, all of them', async () => {
  const { db } = database.current;
  const tenantId = randomUUID();
  await sql`alter table audit_log disable trigger note_audit_rows`.execute(db);
  await insertRows(tenantId);
  await sql`update audit_log set leaf_version = null where tenant_id = ${tenantId}`.execute(db);
  await sql`alter table audit_log enable trigger note_audit_rows`.execute(db);
  await db.insertInto('ledgers').values({ tenant_id: tenantId, unsequenced_before: rowCount }).execute();
  const spied = spyOnResults(db);
  await sequenceDue({ db: spied.db, privateKey, ledgerOrigin: 'sluice.example' });
  const log = db.selectFrom('audit_log').select('id').where('tenant_id', '=', tenantId);
  const ids = (await log.orderBy('at').orderBy('id').execute()).map(({ id }) => id);
  expect(await leavesOf(tenantId)).toEqual(ids);
  expect(Math.max(...spied.results)).toBeGreaterThan(mostBytes / 2);
  expect(Math.max(...spied.results)).toBeLessThanOrEqual(mostInOne);
  const ledger = db.selectFrom('ledgers').select('unsequenced_before').where('tenant_id', '=', tenantId);
  expect(await ledger.executeTakeFirst()).toEqual({ unsequenced_before: 0 });
});
