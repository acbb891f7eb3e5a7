import type { ChangeWriter } from '@sluice/cache-coherence';
import { readCounter } from '@sluice/database';
import { openJobs } from '@sluice/redis/jobs';
import { serviceLogger } from '@sluice/service-runtime';
import {
  eventually,
  openTestCoherence,
  openTestDatabase,
  randomSecrets,
  slow,
  startTestService,
  testRedisUrl,
  useStack,
} from '@sluice/testing';
import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { configSchema } from '../config.ts';
import { workerMetrics } from '../metrics.ts';
import { start } from '../service.ts';
import { testRows } from '../testing/test-rows.ts';
import { ApplicationExpiry } from './expire-applications.ts';

const log = serviceLogger({ service: 'test', level: 'silent' });
const past = () => new Date(Date.now() - 1000);
const soon = () => new Date(Date.now() + 400);
const never = String(3600 * 1000);

const stores = useStack(async (stack) => {
  const database = await openTestDatabase(stack);
  const { db, url: databaseUrl } = database;
  const redis = new Redis(testRedisUrl());
  stack.defer(() => redis.disconnect());
  await redis.flushdb();
  const { changes } = await openTestCoherence(database, stack);
  const confirmed: { tenantIds: readonly string[]; tags: readonly string[] }[] = [];
  const recording: ChangeWriter = {
    ...changes,
    async barrier(change) {
      const confirmation = await changes.barrier(change);
      confirmed.push(change);
      return confirmation;
    },
  };
  const registry = new Registry();
  const context = { db, log, changes: recording, metrics: workerMetrics(registry) };
  const expiry = new ApplicationExpiry(context);
  return { db, databaseUrl, redis, confirmed, registry, expiry, rows: testRows(db) };
});

async function startWorker(stack: AsyncDisposableStack, sweepIntervalMs = never, settings = {}) {
  const { databaseUrl } = stores.current;
  await startTestService(
    { configSchema, start },
    { databaseUrl, secrets: randomSecrets(), stack, settings: { SWEEP_INTERVAL_MS: sweepIntervalMs, ...settings } },
  );
}

async function setAlarm(stack: AsyncDisposableStack, tenant_id: string, application_id: string, at: Date) {
  const jobs = openJobs({ redisUrl: testRedisUrl(), stack, onError: (error) => log.error(error) });
  await jobs.enqueue('application-expiry', {
    id: `application-${application_id}`,
    payload: { tenant_id, application_id },
    at,
  });
}

async function auditRows(entityId: string) {
  const { db } = stores.current;
  return db.selectFrom('audit_log').selectAll().where('entity_id', '=', entityId).execute();
}

async function isThere(id: string): Promise<boolean> {
  const { db } = stores.current;
  return (await db.selectFrom('applications').select('id').where('id', '=', id).execute()).length > 0;
}

test('deletes what is due: row, counter, the Proxies that named it, one audit row, one confirmed change', async () => {
  const { db, rows, expiry, confirmed } = stores.current;
  const tenantId = await rows.tenant();
  const id = await rows.application(tenantId, past());
  const kept = await rows.application(tenantId);
  const proxyId = await rows.proxy(tenantId, id);
  const otherProxyId = await rows.proxy(tenantId, kept);
  await expiry.sweep();
  expect([await isThere(id), await isThere(kept)]).toEqual([false, true]);
  expect(await readCounter(db, tenantId, 'applications')).toBe(1);
  const proxies = await db
    .selectFrom('proxies')
    .select(['id', 'application_id', 'named_application_id'])
    .where('tenant_id', '=', tenantId)
    .execute();
  // A process of the version before has written the Proxies: it does not know `named_application_id`
  expect(new Map(proxies.map(({ id: proxy, ...columns }) => [proxy, columns]))).toEqual(
    new Map([
      [proxyId, { application_id: null, named_application_id: id }],
      [otherProxyId, { application_id: kept, named_application_id: null }],
    ]),
  );
  expect(await auditRows(id)).toMatchObject([
    {
      tenant_id: tenantId,
      operation: 'expire',
      entity_type: 'application',
      actor_id: null,
      trace_id: null,
    },
  ]);
  const tags = [`application:${id}`, `proxy:${proxyId}`];
  expect(confirmed.filter(({ tenantIds }) => tenantIds.includes(tenantId))).toMatchObject([{ tags }]);
});

test.each([
  ['not due', new Date('2999-01-01')],
  ['never due', undefined],
])('leaves what is %s', async (_name, expiresAt) => {
  const { rows, expiry, confirmed } = stores.current;
  const tenantId = await rows.tenant();
  const id = await rows.application(tenantId, expiresAt);
  await expiry.sweep();
  expect(await isThere(id)).toBe(true);
  expect(await auditRows(id)).toEqual([]);
  expect(confirmed.filter(({ tenantIds }) => tenantIds.includes(tenantId))).toEqual([]);
});

test('ten at once delete once and write one audit row', async () => {
  const { db, rows, expiry } = stores.current;
  const tenantId = await rows.tenant();
  const id = await rows.application(tenantId, past());
  await Promise.all(Array.from({ length: 10 }, () => expiry.sweep()));
  expect(await auditRows(id)).toHaveLength(1);
  expect(await readCounter(db, tenantId, 'applications')).toBe(0);
});

test('an alarm that rings early is tried again; one for nothing is done', async () => {
  const { rows, expiry } = stores.current;
  const tenantId = await rows.tenant();
  const early = await rows.application(tenantId, new Date('2999-01-01'));
  const due = await rows.application(tenantId, past());
  const alarm = (application_id: string) => expiry.onAlarm({ tenant_id: tenantId, application_id });
  const [first, second, third] = await Promise.allSettled([alarm(early), alarm(due), alarm(tenantId)]);
  expect(first).toMatchObject({ reason: { message: expect.stringContaining('it is due 2999-01-01T00:00:00.000Z') } });
  expect([second?.status, third?.status]).toEqual(['fulfilled', 'fulfilled']);
  expect(await isThere(due)).toBe(false);
});

slow('0.8 s')('a sweep deletes more than fit in one round, of all Tenants', async () => {
  const { db, rows, expiry, registry } = stores.current;
  const tenants = [await rows.tenant(), await rows.tenant()];
  for (const tenantId of tenants) for (let i = 0; i < 300; i++) await rows.application(tenantId, past());
  await expiry.sweep();
  for (const tenantId of tenants) expect(await rows.count(tenantId)).toMatchObject({ applications: 0, audit_log: 300 });
  expect(
    await db.selectFrom('applications').select('id').where('expires_at', '<=', new Date().toISOString()).execute(),
  ).toEqual([]);
  expect(await registry.metrics()).toMatch(/sluice_application_expiry_lag_seconds_count [6-9]\d\d/);
});

describe('a running worker', () => {
  test('deletes by the job, soon after the moment and not before', async () => {
    await using stack = new AsyncDisposableStack();
    const { rows } = stores.current;
    const tenantId = await rows.tenant();
    const at = soon();
    await startWorker(stack);
    const id = await rows.application(tenantId, at);
    await setAlarm(stack, tenantId, id, at);
    await eventually('deleted by the job', async () => !(await isThere(id)));
    expect(Date.now()).toBeGreaterThanOrEqual(at.getTime());
    expect(await auditRows(id)).toHaveLength(1);
  });

  test('deletes by the sweep when the queue was lost', async () => {
    await using stack = new AsyncDisposableStack();
    const { rows, redis } = stores.current;
    const tenantId = await rows.tenant();
    const at = soon();
    const id = await rows.application(tenantId, at);
    await setAlarm(stack, tenantId, id, at);
    await redis.flushdb();
    await startWorker(stack, '100');
    await eventually('deleted by the sweep', async () => !(await isThere(id)));
    expect(await auditRows(id)).toHaveLength(1);
  });

  test('deletes by the sweep while Redis is away, and stops', async () => {
    // Closing it would hang, and so fail the test, where it did not stop.
    await using stack = new AsyncDisposableStack();
    const { rows } = stores.current;
    const tenantId = await rows.tenant();
    const id = await rows.application(tenantId, past());
    await startWorker(stack, '100', { REDIS_URL: 'redis://127.0.0.1:1' });
    await eventually('deleted without Redis', async () => !(await isThere(id)));
  });

  slow('0.5 s')('two of them, with jobs and sweeps, delete once each and write one audit row each', async () => {
    await using stack = new AsyncDisposableStack();
    const { db, rows } = stores.current;
    const tenantId = await rows.tenant();
    const at = soon();
    const ids = await Promise.all(Array.from({ length: 20 }, () => rows.application(tenantId, at)));
    for (const id of ids) await setAlarm(stack, tenantId, id, at);
    await startWorker(stack, '100');
    await startWorker(stack, '100');
    await eventually('all deleted', async () => (await rows.count(tenantId)).applications === 0);
    const audit = await db.selectFrom('audit_log').select('entity_id').where('tenant_id', '=', tenantId).execute();
    expect(audit.map(({ entity_id }) => entity_id).sort()).toEqual([...ids].sort());
    expect(await readCounter(db, tenantId, 'applications')).toBe(0);
  });
});
