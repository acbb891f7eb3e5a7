import { eventually, useStack } from '@sluice/testing';
import { expectToGoOn, startPlatformOnRedis, withoutAnnouncementsMs } from './platform-on-redis.ts';
import { type RedisServer, startRedisServer } from './redis-server.ts';

const name = 'sluice-redis';

/** A master with a replica, three Sentinels that watch them, and the platform on it. */
const world = useStack((closing) =>
  startPlatformOnRedis(closing, async (shared) => {
    const { password } = shared;
    const master = await startRedisServer(shared, closing);
    const replica = await startRedisServer(shared, closing);
    await replica.client.replicaof('127.0.0.1', master.port);
    await eventually('the replica follows', async () =>
      (await replica.client.info('replication')).includes('master_link_status:up'),
    );
    const sentinel = [
      `sentinel monitor ${name} 127.0.0.1 ${master.port} 2`,
      `sentinel auth-pass ${name} ${password}`,
      `sentinel down-after-milliseconds ${name} 1000`,
      `sentinel failover-timeout ${name} 5000`,
    ];
    const sentinels: RedisServer[] = [];
    for (let n = 0; n < 3; n++) sentinels.push(await startRedisServer({ ...shared, sentinel }, closing));
    const isAgreed = async ({ client }: RedisServer) => {
      const facts = String(await client.call('SENTINEL', 'MASTER', name));
      return facts.includes('num-other-sentinels,2') && facts.includes('num-slaves,1');
    };
    await eventually('the Sentinels know each other and the replica', async () =>
      (await Promise.all(sentinels.map(isAgreed))).every(Boolean),
    );
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const url = `redis+sentinel://:${password}@${hosts}/${name}?sentinel_password=${password}`;
    return { url, master, replica };
  }),
);

test('the platform finds the master by its Sentinels, and the next one when that dies', async () => {
  const { master, replica, doMainJob, regenerate, createExpiring } = world.current;
  await doMainJob();
  expect(await regenerate(15)).toBeLessThan(withoutAnnouncementsMs);
  const scheduled = await createExpiring(10_000);
  expect(await replica.client.keys('{sluice:jobs}:application-expiry:*')).not.toHaveLength(0);
  await master.kill();
  await regenerate(1);
  await eventually('the replica is master', async () => (await replica.client.role())[0] === 'master');
  await expectToGoOn(world.current, scheduled);
});
