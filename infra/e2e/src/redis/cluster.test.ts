import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startWatchdog } from '@sluice/local/parts';
import { eventually, useStack } from '@sluice/testing';
import { medianOf, startPlatformOnRedis, withoutAnnouncementsMs } from './platform-on-redis.ts';
import { startRedisCluster } from './start-redis-cluster.ts';

jest.setTimeout(180_000);

/** The key prefix of all queues. */
const jobsKey = '{sluice:jobs}';

const world = useStack(async (closing) => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-redis-cluster-'));
  closing.defer(() => rm(directory, { recursive: true, force: true }));
  const watchdog = closing.adopt(await startWatchdog(), (started) => started.close());
  const cluster = await startRedisCluster({ directory, watchdog }, closing);
  return { cluster, ...(await startPlatformOnRedis(cluster.url, closing)) };
});

/** All keys of the cluster, without the braces' meaning. */
async function keysOf(nodes: (typeof world.current.cluster)['nodes']): Promise<string[]> {
  const lists = await Promise.all(
    nodes.map(async ({ client }) => ((await client.role())[0] === 'master' ? client.keys('*') : [])),
  );
  return lists.flat();
}

test('the platform works on a Redis Cluster: announcements, jobs, rate limits', async () => {
  const { cluster, doMainJob, regenerate, createExpiring } = world.current;
  await doMainJob();
  const expiring = await createExpiring(new Date(Date.now() + 1500));
  expect(medianOf(await regenerate(15))).toBeLessThan(withoutAnnouncementsMs);
  await expiring.untilRemoved();
  const hasKeys = async (prefix: string) => (await keysOf(cluster.nodes)).some((key) => key.startsWith(prefix));
  expect(await hasKeys(`${jobsKey}:application-expiry`)).toBe(true);
  // They are gone with their window of a second
  await eventually('an invocation that Redis counts', async () => {
    await doMainJob();
    return hasKeys('sluice:rate:proxy:');
  });
});

test('a master dies: revocations are confirmed, what was scheduled is done, and everything goes on', async () => {
  const { cluster, doMainJob, regenerate, createExpiring } = world.current;
  const scheduled = await createExpiring(new Date(Date.now() + 10_000));
  const master = await cluster.masterOf(jobsKey);
  // What a replica has not got is lost with its master; what was written before this is with it when this has arrived.
  await master.client.set(`${jobsKey}:written-last`, '');
  expect(await master.client.wait(1, 10_000)).toBe(1);
  await master.kill();
  await regenerate(1);
  for (let tries = 0; (await cluster.masterOf(jobsKey)) === master; tries++) {
    expect(tries).toBeLessThan(200);
    await wait(100);
  }
  await scheduled.untilRemoved();
  await doMainJob();
  const next = await createExpiring(new Date(Date.now() + 1500));
  await next.untilRemoved();
  expect(medianOf(await regenerate(15))).toBeLessThan(withoutAnnouncementsMs);
});

test('where no announcement is let through, revocations wait for renewals: the figure tells', async () => {
  const { cluster, regenerate } = world.current;
  const alive = cluster.nodes.filter(({ client }) => client.status === 'ready');
  expect(alive).toHaveLength(5);
  for (const { client } of alive) await client.call('ACL', 'SETUSER', 'default', 'resetchannels');
  expect(medianOf(await regenerate(7))).toBeGreaterThan(withoutAnnouncementsMs);
});
