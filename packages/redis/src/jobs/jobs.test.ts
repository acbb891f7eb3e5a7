import { randomUUID } from 'node:crypto';
import { eventually, openRedisDoor, testRedisUrl, useStack } from '@sluice/testing';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { keyPrefix } from './catalogue.ts';
import { consume, type Jobs, openJobs } from './index.ts';

const redis = useStack(async (stack) => {
  const connection = new Redis(testRedisUrl());
  stack.defer(() => connection.disconnect());
  return connection;
});

beforeEach(() => redis.current.flushdb());

const errors: Error[] = [];
const onError = (error: Error) => void errors.push(error);

function openBoth(stack: AsyncDisposableStack, handle: (tenantId: string) => Promise<void> = async () => {}) {
  const redisUrl = testRedisUrl();
  const handled: string[] = [];
  consume(
    'tenant-purge',
    async ({ tenant_id }) => {
      handled.push(tenant_id);
      await handle(tenant_id);
    },
    { redisUrl, stack, onError },
  );
  return { jobs: openJobs({ redisUrl, stack, onError }), handled };
}

const enqueue = (jobs: Jobs, tenant_id: string, at?: Date) =>
  jobs.enqueue('tenant-purge', { id: `tenant-${tenant_id}`, payload: { tenant_id }, ...(at && { at }) });

test('a job is handled once, and leaves nothing behind', async () => {
  await using stack = new AsyncDisposableStack();
  const { jobs, handled } = openBoth(stack);
  const id = randomUUID();
  await enqueue(jobs, id);
  await eventually('handled', () => handled.length > 0);
  expect(handled).toEqual([id]);
  await eventually('removed', async () => !(await redis.current.keys('*')).some((key) => key.includes(id)));
});

test('a job with a moment waits for it; one that is late comes at once', async () => {
  await using stack = new AsyncDisposableStack();
  const { jobs, handled } = openBoth(stack);
  const [soon, late] = [randomUUID(), randomUUID()];
  const at = new Date(Date.now() + 400);
  await enqueue(jobs, soon, at);
  await enqueue(jobs, late, new Date(0));
  await eventually('the first', () => handled.includes(soon));
  expect(Date.now()).toBeGreaterThanOrEqual(at.getTime());
  await eventually('the late one', () => handled.includes(late));
  expect(handled.toSorted()).toEqual([soon, late].toSorted());
});

test('a moment in the year 9999 is taken', async () => {
  await using stack = new AsyncDisposableStack();
  const { jobs, handled } = openBoth(stack);
  await enqueue(jobs, randomUUID(), new Date('9999-12-31T23:59:59.999Z'));
  const next = randomUUID();
  await enqueue(jobs, next);
  await eventually('the next one', () => handled.includes(next));
  expect(handled).toEqual([next]);
});

test('one id is one alarm', async () => {
  await using stack = new AsyncDisposableStack();
  const { jobs } = openBoth(stack);
  const id = randomUUID();
  const at = new Date(Date.now() + 600_000);
  for (let i = 0; i < 3; i++) await enqueue(jobs, id, at);
  const queue = new Queue('tenant-purge', { prefix: keyPrefix, connection: { url: testRedisUrl() } });
  stack.defer(() => queue.close());
  expect(await queue.getJobCounts('delayed', 'wait', 'active')).toEqual({ delayed: 1, wait: 0, active: 0 });
});

test('a job that fails is tried again, and the failure is told', async () => {
  await using stack = new AsyncDisposableStack();
  errors.length = 0;
  let tries = 0;
  const { jobs } = openBoth(stack, async () => {
    tries += 1;
    if (tries === 1) throw new Error('first try');
  });
  await enqueue(jobs, randomUUID());
  await eventually('tried again', () => tries === 2);
  expect(errors.map(({ message }) => message)).toEqual(['first try']);
});

test('a payload that is none of ours is refused and not tried again', async () => {
  await using stack = new AsyncDisposableStack();
  errors.length = 0;
  const { handled } = openBoth(stack);
  const queue = new Queue('tenant-purge', { prefix: keyPrefix, connection: { url: testRedisUrl() } });
  stack.defer(() => queue.close());
  await queue.add('tenant-purge', { tenant_id: 'x', more: 1 }, { attempts: 5 });
  await eventually('refused', () => errors.length > 0);
  expect(errors[0]?.message).toMatch(/^job \d+ of tenant-purge has a payload that does not match its schema$/);
  expect(await queue.getFailedCount()).toBe(1);
  expect(handled).toEqual([]);
});

test('a stop waits for the job under way, whether Redis is there or not', async () => {
  for (const isAway of [false, true]) {
    const stack = new AsyncDisposableStack();
    const door = await openRedisDoor(stack);
    const begun = Promise.withResolvers<void>();
    let isFinished = false;
    const handle = async () => {
      begun.resolve();
      await new Promise((resolve) => setTimeout(resolve, 300));
      isFinished = true;
    };
    consume('tenant-purge', handle, { redisUrl: door.url, stack, onError });
    const jobs = openJobs({ redisUrl: door.url, stack, onError });
    await enqueue(jobs, randomUUID());
    await begun.promise;
    if (isAway) await door.shut();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const start = performance.now();
    await stack.disposeAsync();
    expect({ isAway, isFinished }).toEqual({ isAway, isFinished: true });
    expect(performance.now() - start).toBeLessThan(8000);
  }
});

test('while Redis is away a job is refused at once; when it is back jobs are taken and handled', async () => {
  await using stack = new AsyncDisposableStack();
  const door = await openRedisDoor(stack);
  await door.shut();
  const handled: string[] = [];
  const told: Error[] = [];
  consume('tenant-purge', async ({ tenant_id }) => void handled.push(tenant_id), {
    redisUrl: door.url,
    stack,
    onError: (error) => told.push(error),
  });
  const jobs = openJobs({ redisUrl: door.url, stack, onError });
  await expect(enqueue(jobs, randomUUID())).rejects.toThrow();
  const start = performance.now();
  for (let i = 0; i < 10; i++) await expect(enqueue(jobs, randomUUID())).rejects.toThrow('Redis is away');
  expect(performance.now() - start).toBeLessThan(5000);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(told).toEqual([]); // attempts to connect are not reported

  for (let round = 0; round < 2; round++) {
    await door.open();
    const id = randomUUID();
    await eventually('taken', () =>
      enqueue(jobs, id).then(
        () => true,
        () => false,
      ),
    );
    await eventually('handled', () => handled.includes(id));
    await door.shut();
    await eventually('noticed', () =>
      enqueue(jobs, id).then(
        () => false,
        () => true,
      ),
    );
  }
  await door.open();
});

test('what is stored in Redis holds ids and nothing else', async () => {
  await using stack = new AsyncDisposableStack();
  const jobs = openJobs({ redisUrl: testRedisUrl(), stack, onError });
  const id = randomUUID();
  await enqueue(jobs, id, new Date('2999-01-01'));
  const [key] = (await redis.current.keys('*')).filter((name) => name.includes(id));
  expect(JSON.parse((await redis.current.hget(key ?? '', 'data')) ?? '')).toEqual({ tenant_id: id });
});
