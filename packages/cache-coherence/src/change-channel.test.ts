import { randomUUID } from 'node:crypto';
import { createLogger } from '@sluice/service-runtime';
import { eventually, openRedisDoor, testRedisUrl, useStack } from '@sluice/testing';
import { Redis } from 'ioredis';
import { channel } from './change.ts';
import { announceChange, type ChangeChannel, openChangeChannel } from './index.ts';

const lines: string[] = [];
const log = createLogger({ service: 'test', level: 'debug' }, { write: (line: string) => void lines.push(line) });

const publisher = useStack(async (stack) => {
  const redis = new Redis(testRedisUrl());
  stack.defer(() => redis.disconnect());
  return redis;
});

/** A cache of one Tenant whose state is read through it. */
function observe(changes: ChangeChannel) {
  const cache = changes.openCache<{ value: string }>({ maxEntries: 10, maxAgeMs: 60_000 });
  const tenantId = randomUUID();
  const observed = { state: 'old', loads: 0 };
  const read = async () => {
    const found = await cache.get('k', async () => {
      observed.loads += 1;
      return { tenantId, tags: ['proxy:1'], value: { value: observed.state } };
    });
    return found?.value;
  };
  return { tenantId, observed, read };
}

test('an announced change is dropped by every process that listens, and only by what it concerns', async () => {
  await using stack = new AsyncDisposableStack();
  const processes = [1, 2].map(() => openChangeChannel({ redisUrl: testRedisUrl(), log, stack }));
  await eventually('both listen', () => processes.every((changes) => changes.isLive()));
  const caches = processes.map(observe);
  for (const { observed, read } of caches) {
    await read();
    observed.state = 'new';
    expect(await read()).toBe('old');
  }
  const [first, second] = caches as [ReturnType<typeof observe>, ReturnType<typeof observe>];
  await announceChange(publisher.current, log, { tenantId: first.tenantId, tags: ['proxy:1'] });
  await eventually('dropped', async () => (await first.read()) === 'new');
  expect(await second.read()).toBe('old');
});

test.each(['no JSON', 'null', '5', '{}', '{"tenantId":1,"tags":[]}', '{"tenantId":"t","tags":"x"}'])(
  'an announcement that is not readable, %s, empties the caches and ends nothing',
  async (text) => {
    await using stack = new AsyncDisposableStack();
    const changes = openChangeChannel({ redisUrl: testRedisUrl(), log, stack });
    await eventually('listens', () => changes.isLive());
    const { observed, read } = observe(changes);
    await read();
    observed.state = 'new';
    await publisher.current.publish(channel, text);
    await eventually('dropped', async () => (await read()) === 'new');
    expect(changes.isLive()).toBe(true);
  },
);

test('before the first connection and while it is lost, caches are bypassed; then they start empty', async () => {
  await using stack = new AsyncDisposableStack();
  const door = await openRedisDoor(stack);
  await door.shut();
  const changes = openChangeChannel({ redisUrl: door.url, log, stack });
  const { observed, read } = observe(changes);
  await read();
  await read();
  expect(observed.loads).toBe(2);

  await door.open();
  await eventually('listens', () => changes.isLive());
  await read();
  await read();
  expect(observed.loads).toBe(3);

  await door.shut();
  await eventually('notices the loss', () => !changes.isLive());
  observed.state = 'changed while nobody listened';
  expect(await read()).toBe(observed.state);
  await read();
  expect(observed.loads).toBe(5);

  await door.open();
  await eventually('listens', () => changes.isLive());
  expect(await read()).toBe(observed.state);
  expect(lines.some((line) => line.includes('announcements are not heard'))).toBe(true);
});

test('an announcement that fails is logged and throws nothing', async () => {
  const away = new Redis('redis://127.0.0.1:1', {
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    lazyConnect: true,
  });
  away.on('error', () => {});
  lines.length = 0;
  await announceChange(away, log, { tenantId: 't', tags: ['proxy:1'] });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', msg: 'a change could not be announced', tags: ['proxy:1'] },
  ]);
});
