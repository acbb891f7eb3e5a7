import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { readCounter } from '@sluice/database';
import { openJobs } from '@sluice/redis/jobs';
import { openTestDatabase, programEnvironment, testRedisUrl, useStack } from '@sluice/testing';
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import { testRows } from '../testing/test-rows.ts';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));

const stores = useStack(async (stack) => {
  const { db, url } = await openTestDatabase(stack);
  const redis = new Redis(testRedisUrl());
  stack.defer(() => redis.disconnect());
  await redis.flushdb();
  return { db, url, redis, rows: testRows(db) };
});

/** It sweeps only at its start, so later work comes from jobs. */
async function startWorker(stack: AsyncDisposableStack): Promise<ChildProcess> {
  const settings = { ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0', JOB_LOCK_MS: '2000', SWEEP_INTERVAL_MS: '3600000' };
  const child = spawn(process.execPath, [main], {
    env: { ...programEnvironment(), DATABASE_URL: stores.current.url, REDIS_URL: testRedisUrl(), ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stack.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL'); // also ends a stopped process
    await once(child, 'close');
  });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  await until('the worker runs', async () => output.includes('worker started'));
  return child;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + 30_000; !(await holds()); ) {
    if (performance.now() > deadline) throw new Error(`did not come within 30 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('a worker that hangs in the middle of a deletion past its lock: another one deletes, once, with one audit row', async () => {
  await using stack = new AsyncDisposableStack();
  const { db, rows, redis } = stores.current;
  const tenantId = await rows.tenant();
  const hung = await startWorker(stack); // before its first sweep could delete anything
  const at = new Date(Date.now() + 3000);
  const id = await rows.application(tenantId, at);
  const jobs = openJobs({ redisUrl: testRedisUrl(), stack, onError: (error) => console.error(error) });
  const payload = { tenant_id: tenantId, application_id: id };
  await jobs.enqueue('application-expiry', { id: `application-${id}`, payload, at });
  const count = async () => Number((await redis.keys('{sluice:jobs}:application-expiry:*:lock')).length);

  // The table's lock keeps the first worker in its transaction when it is stopped
  await db.transaction().execute(async (tx) => {
    await sql`lock table audit_log in access exclusive mode`.execute(tx);
    await until('the job is taken', async () => (await count()) > 0);
    await until('its statement waits', async () => {
      const { rows: waiting } = await sql<{ n: number }>`
        select count(*)::integer as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(tx);
      return (waiting[0]?.n ?? 0) > 0;
    });
    hung.kill('SIGSTOP');
  });

  await startWorker(stack);
  const isGone = async () => (await rows.count(tenantId)).applications === 0;
  await until('the other worker has deleted it', isGone);
  expect([hung.exitCode, hung.signalCode]).toEqual([null, null]); // it is stopped, and has not ended
  hung.kill('SIGCONT');
  await until(
    'no job is left',
    async () => (await redis.keys('{sluice:jobs}:application-expiry:application-*')).length === 0,
  );
  expect([hung.exitCode, hung.signalCode]).toEqual([null, null]); // waking has not ended it either
  const audit = await db.selectFrom('audit_log').select('operation').where('entity_id', '=', id).execute();
  expect(audit).toEqual([{ operation: 'expire' }]);
  expect(await readCounter(db, tenantId, 'applications')).toBe(0);
});
