import { randomUUID } from 'node:crypto';
import { eventually, testRedisUrl, useStack } from '@sluice/testing';
import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { consume, openJobs } from './index.ts';
import { jobMetrics } from './job-metrics.ts';

const redis = useStack(async (stack) => {
  const connection = new Redis(testRedisUrl());
  stack.defer(() => connection.disconnect());
  return connection;
});

test('the age of the oldest job that waits, jobs by state, what was done and what failed', async () => {
  await redis.current.flushdb();
  await using stack = new AsyncDisposableStack();
  const registry = new Registry();
  const redisUrl = testRedisUrl();
  const begun: string[] = [];
  const held = Promise.withResolvers<void>();
  consume(
    'tenant-purge',
    async ({ tenant_id }) => {
      begun.push(tenant_id);
      if (begun.length === 1) await held.promise;
      if (begun.length === 2) throw new Error('not yet');
    },
    { redisUrl, stack, onError: () => {}, concurrency: 1, metrics: jobMetrics(registry) },
  );
  const jobs = openJobs({ redisUrl, stack, onError: () => {} });
  const enqueue = (at?: Date) => {
    const id = randomUUID();
    return jobs.enqueue('tenant-purge', { id, payload: { tenant_id: id }, ...(at && { at }) });
  };
  const figure = async (line: string) => {
    const text = await registry.metrics();
    return Number(
      text
        .split('\n')
        .find((one) => one.startsWith(`${line} `))
        ?.slice(line.length),
    );
  };
  const age = () => figure('sluice_queue_oldest_job_age_seconds{queue="tenant-purge"}');

  await enqueue();
  await eventually('the first is under way', () => begun.length === 1);
  await enqueue(new Date(Date.now() + 600_000));
  expect(await age()).toBe(0);
  await enqueue();
  await new Promise((resolve) => setTimeout(resolve, 1200));
  await enqueue();
  expect(await age()).toBeGreaterThanOrEqual(1.1); // the older of the two
  expect(await figure('sluice_queue_jobs{queue="tenant-purge",state="wait"}')).toBe(2);
  expect(await figure('sluice_queue_jobs{queue="tenant-purge",state="delayed"}')).toBe(1);
  held.resolve();
  await eventually(
    'failure and success are counted',
    async () =>
      (await figure('sluice_job_failures_total{queue="tenant-purge"}')) === 1 &&
      (await figure('sluice_jobs_completed_total{queue="tenant-purge"}')) === 2,
  );
  expect(await age()).toBe(0);
});
