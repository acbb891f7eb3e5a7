import { randomUUID } from 'node:crypto';
import { recordChange, systemAct } from '@sluice/audit';
import { openJobs } from '@sluice/jobs';
import { createLogger } from '@sluice/service-runtime';
import {
  createTestDatabase,
  createTestSecrets,
  eventually,
  startTestService,
  testRedisUrl,
  useStack,
} from '@sluice/testing';
import { configSchema } from '../config.ts';
import { start } from '../service.ts';
import { testRows } from '../testing/test-rows.ts';
import { purgeTenant, sweepClosedTenants } from './purge-tenant.ts';
import { deleteTenantRow } from './tenant-purge.queries.ts';

const log = createLogger({ service: 'test', level: 'silent' });

const stores = useStack(async (stack) => {
  const { db, url: databaseUrl } = await createTestDatabase(stack);
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
  await startTestService({ configSchema, start }, { databaseUrl, secrets: createTestSecrets(), stack, settings });
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
