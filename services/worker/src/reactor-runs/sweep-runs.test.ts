import { randomBytes, randomUUID } from 'node:crypto';
import { readCounter, runBytesCounter } from '@sluice/database';
import { FeedStore, readCounts } from '@sluice/invocation-feed';
import type { Jobs } from '@sluice/redis/jobs';
import { serviceLogger } from '@sluice/service-runtime';
import { openTestDatabase, testRedisUrl, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { workerMetrics } from '../metrics.ts';
import { testRows } from '../testing/test-rows.ts';
import { sweepOldRuns, sweepRuns } from './sweep-runs.ts';

const database = useStack((stack) => openTestDatabase(stack));
const log = serviceLogger({ service: 'test', level: 'silent' });
const feed = useStack(async (stack) => new FeedStore(testRedisUrl(), { log, stack }));
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

const waiting = { state: 'waiting', arguments_ciphertext: Buffer.from('arguments') } as const;
const running = (leaseLeftSeconds: number) =>
  ({ ...waiting, state: 'running', tries: 1, claim_id: randomUUID(), lease_until: ago(-leaseLeftSeconds) }) as const;

async function insertRun(tenant_id: string, members: object): Promise<string> {
  const id = randomUUID();
  const asked = { reactor_id: randomUUID(), created_by: randomUUID(), caller_type: 'application', trace_id: 'trace' };
  const run = { tenant_id, id, ...asked, retryable: false, timeout_ms: 60_000, ...members };
  await database.current.db
    .insertInto('reactor_runs')
    .values(run as never)
    .execute();
  return id;
}

async function runsOf(tenantId: string) {
  const rows = await database.current.db
    .selectFrom('reactor_runs')
    .select(['id', 'state', 'failure', 'claim_id', 'lease_until', 'arguments_ciphertext', 'ended_at'])
    .where('tenant_id', '=', tenantId)
    .execute();
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}

function sweeping(enqueue: Jobs['enqueue'] = async () => {}) {
  const registry = new Registry();
  const context = {
    db: database.current.db,
    log,
    metrics: workerMetrics(registry),
    jobs: { enqueue },
    feed: feed.current,
  };
  const lost = async (outcome: string) =>
    (await registry.metrics()).match(`sluice_reactor_runs_lost_total{outcome="${outcome}"} (\\d+)`)?.[1];
  return { sweep: () => sweepRuns(context), lost };
}

test('a lost run begins again unless it may have called out, and only a retryable one although it may have', async () => {
  const tenantId = await testRows(database.current.db).tenant();
  const marked = { marked_at: ago(30) };
  const runs = {
    alive: await insertRun(tenantId, running(60)),
    unmarked: await insertRun(tenantId, running(-1)),
    marked: await insertRun(tenantId, { ...running(-1), ...marked }),
    retryable: await insertRun(tenantId, { ...running(-1), ...marked, retryable: true }),
    triedOften: await insertRun(tenantId, { ...running(-1), tries: 5 }),
  };
  const { sweep, lost } = sweeping();
  await Promise.all([sweep(), sweep()]);
  const found = await runsOf(tenantId);
  expect(found.get(runs.alive)).toMatchObject({ state: 'running', failure: null });
  for (const again of [runs.unmarked, runs.retryable]) {
    expect(found.get(again)).toMatchObject({ state: 'waiting', claim_id: null, lease_until: null, ended_at: null });
    expect(found.get(again)?.arguments_ciphertext).not.toBeNull();
  }
  for (const failed of [runs.marked, runs.triedOften]) {
    expect(found.get(failed)).toMatchObject({ state: 'failed', failure: 'interrupted', arguments_ciphertext: null });
    expect(found.get(failed)?.ended_at).not.toBeNull();
  }
  expect(await lost('interrupted')).toBe('2');
  expect(await lost('begins_again')).toBe('2');
});

test('each run that waits gets a job, of each Tenant the eight oldest, and those of all Tenants in turn', async () => {
  const rows = testRows(database.current.db);
  const [many, few] = [await rows.tenant(), await rows.tenant()];
  const ofMany: string[] = [];
  for (let i = 0; i < 12; i++) ofMany.push(await insertRun(many, { ...waiting, created_at: ago(100 - i) }));
  const ofFew = [await insertRun(few, waiting)];
  await insertRun(few, running(60));
  const jobs: { id: string; tenant_id: string; run_id: string }[] = [];
  const { sweep } = sweeping(
    async (_name, { id, payload }) =>
      void jobs.push({ id, ...(payload as never as { tenant_id: string; run_id: string }) }),
  );
  await sweep();
  expect(jobs.filter(({ tenant_id }) => tenant_id === many).map(({ run_id }) => run_id)).toEqual(ofMany.slice(0, 8));
  const place = jobs.findIndex(({ tenant_id }) => tenant_id === few);
  expect(jobs[place]).toEqual({ id: `${ofFew[0]}-0`, tenant_id: few, run_id: ofFew[0] });
  expect(jobs.slice(0, place).filter(({ tenant_id }) => tenant_id === many).length).toBeLessThan(2);
});

test('without Redis lost runs end all the same, and the sweep fails so that its alert fires', async () => {
  const tenantId = await testRows(database.current.db).tenant();
  const marked = await insertRun(tenantId, { ...running(-1), marked_at: ago(30) });
  await insertRun(tenantId, waiting);
  const { sweep } = sweeping(() => Promise.reject(new Error('Redis is away')));
  await expect(sweep()).rejects.toThrow('Redis is away');
  expect((await runsOf(tenantId)).get(marked)).toMatchObject({ state: 'failed', failure: 'interrupted' });
});

test('a run that has waited for a day has failed; a day after its end its row is gone and counts no more', async () => {
  const { db } = database.current;
  const tenantId = await testRows(db).tenant();
  const [recently, dayAgo] = [ago(24 * 3600 - 60), ago(24 * 3600 + 60)];
  const result = { result_ciphertext: randomBytes(100), console_ciphertext: randomBytes(20) };
  const kept = await insertRun(tenantId, { state: 'done', created_at: dayAgo, ended_at: recently, ...result });
  await insertRun(tenantId, { state: 'done', created_at: dayAgo, ended_at: dayAgo, ...result });
  await insertRun(tenantId, { state: 'cancelled', created_at: dayAgo, ended_at: dayAgo });
  const overdue = await insertRun(tenantId, { ...waiting, created_at: dayAgo });
  const soon = await insertRun(tenantId, { ...waiting, created_at: recently });
  await sql`insert into counters values (${tenantId}, ${runBytesCounter}, 0, 240)`.execute(db);
  await Promise.all([sweepOldRuns({ db, log, feed: feed.current }), sweepOldRuns({ db, log, feed: feed.current })]);
  const found = await runsOf(tenantId);
  expect([...found.keys()].sort()).toEqual([kept, overdue, soon].sort());
  expect(found.get(overdue)).toMatchObject({ state: 'failed', failure: 'overdue', arguments_ciphertext: null });
  expect(found.get(soon)).toMatchObject({ state: 'waiting', failure: null });
  expect(await readCounter(db, tenantId, runBytesCounter)).toBe(120);
});

describe('runs that the worker ends are told like those of gateways', () => {
  const told = async (tenantId: string) =>
    (await feed.current.read(tenantId, new Date())).invocations.map(({ record }) => record);
  const counted = async (tenantId: string, kind: 'tenant' | 'reactor' | 'application', id: string) => {
    const to = Math.floor(Date.now() / 1000) + 60;
    const series = { kind, id };
    const counts = await readCounts(database.current.db, tenantId, { series, step: 60, from: to - 600, to });
    return [...counts.values()].map((one) => [one?.requests, Object.fromEntries(one?.errors ?? [])]);
  };

  test('an interrupted run, but not one that begins again', async () => {
    const tenantId = await testRows(database.current.db).tenant();
    const [reactor_id, created_by] = [randomUUID(), randomUUID()];
    const asked = { reactor_id, created_by, started_at: ago(90), trace_id: 'interrupted-run' };
    await insertRun(tenantId, { ...running(-1), ...asked, marked_at: ago(30) });
    await insertRun(tenantId, { ...running(-1), ...asked, trace_id: 'again' });
    await sweeping().sweep();
    const [run, ...others] = await told(tenantId);
    expect(others).toEqual([]);
    expect(run).toMatchObject({ trace_id: 'interrupted-run', reactor_id, application_id: created_by });
    expect(run).toMatchObject({ method: 'POST', status: 500, refused_by: 'reactor_failed' });
    expect(run?.stages_ms.total).toBeGreaterThanOrEqual(89_000);
    const once = [[1, { reactor_failed: 1 }]];
    expect(await counted(tenantId, 'tenant', tenantId)).toEqual(once);
    expect(await counted(tenantId, 'reactor', reactor_id)).toEqual(once);
    expect(await counted(tenantId, 'application', created_by)).toEqual(once);
  });

  test('an overdue run, without the day for which it waited, and without an Application if a session asked', async () => {
    const tenantId = await testRows(database.current.db).tenant();
    const [reactor_id, created_by] = [randomUUID(), randomUUID()];
    const asked = { reactor_id, created_by, caller_type: 'session', created_at: ago(24 * 3600 + 60) };
    await insertRun(tenantId, { ...waiting, ...asked });
    await sweepOldRuns({ db: database.current.db, log, feed: feed.current });
    const [run] = await told(tenantId);
    expect(run).toMatchObject({ reactor_id, status: 503, refused_by: 'unavailable', stages_ms: { total: 0 } });
    expect(run).not.toHaveProperty('application_id');
    expect(await counted(tenantId, 'tenant', tenantId)).toEqual([[1, { unavailable: 1 }]]);
    expect(await counted(tenantId, 'application', created_by)).toEqual([]);
  });

  test('without Redis they are counted, and the sweep goes on', async () => {
    const tenantId = await testRows(database.current.db).tenant();
    const run = await insertRun(tenantId, { ...waiting, created_at: ago(24 * 3600 + 60) });
    const away = { add: () => Promise.reject(new Error('Redis is away')) };
    await sweepOldRuns({ db: database.current.db, log, feed: away });
    expect((await runsOf(tenantId)).get(run)).toMatchObject({ failure: 'overdue' });
    expect(await counted(tenantId, 'tenant', tenantId)).toEqual([[1, { unavailable: 1 }]]);
  });
});
