import { eventually, useStack } from '@sluice/testing';
import { expectToGoOn, startPlatformOnRedis, withoutAnnouncementsMs } from './platform-on-redis.ts';
import type { RedisServer } from './redis-server.ts';
import { startRedisCluster } from './start-redis-cluster.ts';

const jobsKey = '{sluice:jobs}';

const world = useStack((closing) => startPlatformOnRedis(closing, startRedisCluster));

/** All keys of the cluster, without the braces' meaning. */
async function keysOf(nodes: readonly RedisServer[]): Promise<string[]> {
  const lists = await Promise.all(
    nodes.map(async ({ client }) => ((await client.role())[0] === 'master' ? client.keys('*') : [])),
  );
  return lists.flat();
}

test('the platform works on a Redis Cluster: announcements, jobs, rate limits', async () => {
  const { nodes, doMainJob, regenerate, createExpiring } = world.current;
  await doMainJob();
  const expiring = await createExpiring(1500);
  expect(await regenerate(15)).toBeLessThan(withoutAnnouncementsMs);
  await expiring.untilRemoved();
  const hasKeys = async (prefix: string) => (await keysOf(nodes)).some((key) => key.startsWith(prefix));
  expect(await hasKeys(`${jobsKey}:application-expiry`)).toBe(true);
  // They are gone with their window of a second
  await eventually('an invocation that Redis counts', async () => {
    await doMainJob();
    return hasKeys('sluice:rate:proxy:');
  });
});

test('a master dies: revocations are confirmed, what was scheduled is done, and everything goes on', async () => {
  const { masterOf, regenerate, createExpiring } = world.current;
  const scheduled = await createExpiring(10_000);
  const master = await masterOf(jobsKey);
  // A replica loses what it has not received. Once it has this write, it has all earlier ones.
  await master.client.set(`${jobsKey}:written-last`, '');
  expect(await master.client.wait(1, 10_000)).toBe(1);
  await master.kill();
  await regenerate(1);
  await eventually('a replica is master', async () => (await masterOf(jobsKey)) !== master);
  await expectToGoOn(world.current, scheduled);
});

test('where no announcement is let through, revocations wait for renewals: the figure tells', async () => {
  const { nodes, regenerate } = world.current;
  const alive = nodes.filter(({ client }) => client.status === 'ready');
  expect(alive).toHaveLength(5);
  for (const { client } of alive) await client.call('ACL', 'SETUSER', 'default', 'resetchannels');
  expect(await regenerate(7)).toBeGreaterThan(withoutAnnouncementsMs);
});
