import { randomBytes, randomUUID } from 'node:crypto';
import { recordChange, systemAct } from '@sluice/audit';
import { openJobs } from '@sluice/redis/jobs';
import { serviceLogger } from '@sluice/service-runtime';
import {
  eventually,
  insertTestMember,
  insertTestSignIn,
  openTestDatabase,
  randomSecrets,
  startTestService,
  testRedisUrl,
  useStack,
} from '@sluice/testing';
import { sql } from 'kysely';
import { configSchema } from '../config.ts';
import { start } from '../service.ts';
import { testRows } from '../testing/test-rows.ts';
import { purgeTenant, sweepClosedTenants } from './purge-tenant.ts';
import { deleteTenantRow } from './tenant-purge.queries.ts';

const log = serviceLogger({ service: 'test', level: 'silent' });

const stores = useStack(async (stack) => {
  const { db, url: databaseUrl } = await openTestDatabase(stack);
  return { db, databaseUrl, rows: testRows(db), context: { db, log } };
});

async function fullTenant(tokens = 3): Promise<string> {
  const { db, rows } = stores.current;
  const id = await rows.tenant();
  await rows.proxy(id, await rows.application(id));
  await rows.tokens(id, tokens);
  await rows.dataKey(id);

  await recordChange(db, systemAct(id), { operation: 'delete', entityType: 'tenant', entityId: id });
  return id;
}

const nothingButAudit = { tokens: 0, proxies: 0, applications: 0, data_keys: 0, counters: 0, tenants: 0, audit_log: 1 };

test('purges every row of a closed Tenant but its audit, and nothing of another', async () => {
  const { rows, context } = stores.current;
  const [closed, open] = [await fullTenant(2500), await fullTenant()];
  const before = await rows.count(open);
  await rows.close(closed);
  await purgeTenant(closed, context);
  expect(await rows.count(closed)).toEqual(nothingButAudit);
  expect(await rows.count(open)).toEqual(before);
});

test('leaves nothing but its audit in any table of the database', async () => {
  const { db, rows, context } = stores.current;
  const closed = await fullTenant();
  await fillOtherTables(closed);
  const before = await rowsByTable(closed);
  // A table that is missing here needs a row in `fillOtherTables`, so that the purge has something to delete.
  expect(Object.entries(before).filter(([table, count]) => count === 0 && !auditTables.includes(table))).toEqual([]);
  await rows.close(closed);
  await purgeTenant(closed, context);
  const left = Object.entries(await rowsByTable(closed)).filter(([, count]) => count > 0);
  expect(left.map(([table]) => table).filter((table) => !auditTables.includes(table))).toEqual([]);
  expect(await db.selectFrom('tenants').select('id').where('id', '=', closed).execute()).toEqual([]);
});

const auditTables = [
  'audit_log',
  'audit_log_tokens',
  'audit_log_arrivals',
  'ledgers',
  'ledger_leaves',
  'ledger_nodes',
  'changes', // a row lives until its change is confirmed
];

async function fillOtherTables(tenant_id: string): Promise<void> {
  const { db, rows } = stores.current;
  const application_id = await rows.application(tenant_id);
  const soon = new Date(Date.now() + 60_000).toISOString();
  await db
    .insertInto('key_uses')
    .columns(['tenant_id', 'application_id', 'key_id', 'last_used_at'])
    .expression(
      db
        .selectFrom('application_keys')
        .select(['tenant_id', 'application_id', 'id', 'created_at'])
        .where('tenant_id', '=', tenant_id)
        .where('application_id', '=', application_id),
    )
    .execute();
  const hashes = () => ({ key_hash: randomBytes(32), nonce_hash: randomBytes(32) });
  const session = { tenant_id, id: randomUUID(), application_id, made_from: '10.0.0.1', network: '10.0.0.0' };
  await db
    .insertInto('sessions')
    .values({ ...session, ...hashes(), expires_at: soon })
    .execute();
  const proxy_id = await rows.proxy(tenant_id);
  const former = { tenant_id, id: randomUUID(), proxy_id, version: 1, at: soon, changed_members: [] };
  await db
    .insertInto('proxy_versions')
    .values({ ...former, definition_ciphertext: randomBytes(16) })
    .execute();
  const formula = { tenant_id, id: randomUUID(), name: 'F', code: 'code' };
  await db.insertInto('reactor_formulas').values(formula).execute();
  await db.insertInto('reactors').values({ tenant_id, id: randomUUID(), name: 'R', formula_id: formula.id }).execute();
  await db.insertInto('due_tokens').values({ tenant_id, kind: 'expiry', due_at: soon }).execute();
  const { userId } = await insertTestMember(db, { tenantId: tenant_id, role: 'ADMIN' });
  await insertTestSignIn(db, { tenantId: tenant_id, userId, secretHash: randomBytes(32) });
  await db.insertInto('former_members').values({ tenant_id, user_id: userId }).execute();
  await db
    .insertInto('former_names')
    .values({ tenant_id, kind: 'proxy', id: randomUUID(), name: 'P', until: soon })
    .execute();
  const link = { tenant_id, secret_hash: randomBytes(32), expires_at: soon };
  await db
    .insertInto('sign_in_links')
    .values({ ...link, user_id: userId })
    .execute();
  await db
    .insertInto('invitations')
    .values({ ...link, email: 'a@example.com', role: 'ADMIN' })
    .execute();
  const run = { id: randomUUID(), reactor_id: randomUUID(), created_by: application_id, trace_id: 'trace' };
  await db
    .insertInto('reactor_runs')
    .values({
      tenant_id,
      ...run,
      caller_type: 'application',
      retryable: false,
      timeout_ms: 60_000,
      arguments_ciphertext: randomBytes(64),
    })
    .execute();
  const counted = { requests: 1, destination_errors: 0, errors: '{}', durations: '{"7":1}' };
  await db
    .insertInto('invocation_counts')
    .values({ tenant_id, step: 60, start: soon, kind: 'tenant', id: tenant_id, ...counted })
    .execute();
  const claim = { application_id, request_hash: randomBytes(32), body_hash: randomBytes(32), claim_id: randomUUID() };
  await db
    .insertInto('idempotency_records')
    .values({ tenant_id, ...claim, locked_until: soon })
    .execute();
}

test('a person goes with the last Tenant that knows them, with their identities', async () => {
  const { db, rows, context } = stores.current;
  const tenants = [await rows.tenant(), await rows.tenant()] as const;
  const people = { shared: randomUUID(), removedElsewhere: randomUUID(), own: randomUUID() };
  for (const userId of Object.values(people)) {
    await insertTestMember(db, { tenantId: tenants[0], role: 'AUDITOR', userId });
    await db
      .insertInto('identities')
      .values({ issuer: 'https://issuer.test', subject: userId, user_id: userId })
      .execute();
  }
  await insertTestMember(db, { tenantId: tenants[1], role: 'AUDITOR', userId: people.shared });
  await db.insertInto('former_members').values({ tenant_id: tenants[1], user_id: people.removedElsewhere }).execute();
  const left = async () => {
    const found = await db.selectFrom('users').select('id').where('id', 'in', Object.values(people)).execute();
    const identities = await db.selectFrom('identities').select('user_id').execute();
    expect(identities.map(({ user_id }) => user_id).sort()).toEqual(found.map(({ id }) => id).sort());
    return new Set(found.map(({ id }) => id));
  };
  await rows.close(tenants[0]);
  await purgeTenant(tenants[0], context);
  expect(await left()).toEqual(new Set([people.shared, people.removedElsewhere]));
  await rows.close(tenants[1]);
  await purgeTenant(tenants[1], context);
  expect(await left()).toEqual(new Set());
});

/** Rows of the Tenant in each table that has a `tenant_id`, as the database itself lists them. */
async function rowsByTable(tenantId: string): Promise<Record<string, number>> {
  const { db } = stores.current;
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class join pg_attribute on attrelid = pg_class.oid
    where attname = 'tenant_id' and relkind in ('r', 'p') and not relispartition
      and relnamespace = current_schema()::regnamespace
  `.execute(db);
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await sql<{ count: string }>`
      select count(*) from ${sql.table(name)} where tenant_id = ${tenantId}
    `.execute(db);
    counts[name] = Number(rows[0]?.count);
  }
  return counts;
}

test('leaves a Tenant that is open', async () => {
  const { rows, context } = stores.current;
  const open = await fullTenant();
  const before = await rows.count(open);
  await purgeTenant(open, context);
  await sweepClosedTenants(context);
  expect(await rows.count(open)).toEqual(before);
});

test('several at once leave nothing', async () => {
  const { rows, context } = stores.current;
  const closed = await fullTenant(2500);
  await rows.close(closed);
  await Promise.all([1, 2, 3].map(() => purgeTenant(closed, context)));
  await sweepClosedTenants(context);
  expect(await rows.count(closed)).toEqual(nothingButAudit);
});

test('writes the closing once where the process that closed the Tenant died before it did', async () => {
  const { db, rows, context } = stores.current;
  const closed = await rows.tenant();
  const actor_id = randomUUID();
  await rows.close(closed);
  await db.updateTable('tenants').set({ modified_by: actor_id }).where('id', '=', closed).execute();
  await Promise.all([1, 2, 3].map(() => purgeTenant(closed, context)));
  const logged = db.selectFrom('audit_log').select(['entity_type', 'entity_id', 'operation', 'actor_type', 'actor_id']);
  expect(await logged.where('tenant_id', '=', closed).execute()).toEqual([
    { entity_type: 'tenant', entity_id: closed, operation: 'delete', actor_type: 'application', actor_id },
  ]);
});

test('the row of the Tenant stays while another worker has not committed, so that the next sweep goes on', async () => {
  const { db, rows, context } = stores.current;
  const closed = await fullTenant();
  await rows.close(closed);
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('tokens').where('tenant_id', '=', closed).execute();
    for (const table of ['proxies', 'applications', 'data_keys', 'counters'] as const) {
      await db.deleteFrom(table).where('tenant_id', '=', closed).execute();
    }
    expect(await deleteTenantRow(db, closed)).toBe(false);
  });
  await purgeTenant(closed, context);
  expect(await rows.count(closed)).toEqual(nothingButAudit);
});

test('a row that a late request left behind is purged with the next sweep', async () => {
  const { rows, context } = stores.current;
  const closed = await rows.tenant();
  await rows.close(closed);
  await rows.application(closed);
  expect(await deleteTenantRow(context.db, closed)).toBe(false);
  await sweepClosedTenants(context);
  expect((await rows.count(closed)).tenants).toBe(0);
  expect((await rows.count(closed)).applications).toBe(0);
});

test.each(['job', 'sweep'])('a running worker purges by the %s', async (way) => {
  await using stack = new AsyncDisposableStack();
  const { databaseUrl, rows } = stores.current;
  const settings = { SWEEP_INTERVAL_MS: way === 'job' ? '3600000' : '100' };
  await startTestService({ configSchema, start }, { databaseUrl, secrets: randomSecrets(), stack, settings });
  // The sweep at the start must be over
  await new Promise((resolve) => setTimeout(resolve, 300));
  const closed = await fullTenant();
  await rows.close(closed);
  if (way === 'job') {
    const jobs = openJobs({ redisUrl: testRedisUrl(), stack, onError: (error) => log.error(error) });
    await jobs.enqueue('tenant-purge', { id: `tenant-${closed}`, payload: { tenant_id: closed } });
  }
  await eventually('purged', async () => (await rows.count(closed)).tenants === 0);
  expect(await rows.count(closed)).toEqual(nothingButAudit);
});
