import { serviceLogger } from '@sluice/service-runtime';
import { eventually, openRedisDoor } from '@sluice/testing';
import { connectRedis } from './connect-redis.ts';

function recordingLog() {
  const lines: string[] = [];
  return {
    lines,
    log: serviceLogger({ service: 'test', level: 'info' }, { write: (line: string) => void lines.push(line) }),
  };
}

test('the first commands wait for the connection', async () => {
  await using stack = new AsyncDisposableStack();
  const redis = connectRedis((await openRedisDoor(stack)).url, { log: recordingLog().log, stack });
  expect(await Promise.all([redis.ping(), redis.ping()])).toEqual(['PONG', 'PONG']);
});

test('while Redis is away commands fail at once, and it comes back; each is logged once', async () => {
  await using stack = new AsyncDisposableStack();
  const { log, lines } = recordingLog();
  const door = await openRedisDoor(stack);
  await door.shut();
  const redis = connectRedis(door.url, { log, stack });
  await expect(redis.ping()).rejects.toThrow();
  const count = (text: string) => lines.filter((line) => line.includes(text)).length;
  for (let round = 0; round < 2; round++) {
    const start = performance.now();
    for (let i = 0; i < 20; i++) await expect(redis.ping()).rejects.toThrow();
    expect(performance.now() - start).toBeLessThan(5000);
    await door.open();
    await eventually('back', () =>
      redis.ping().then(
        () => true,
        () => false,
      ),
    );
    await door.shut();
    await eventually('noticed', () => count('Redis is away') === round + 2);
  }
  expect(count('Redis is back')).toBe(2);
  await door.open();
});
