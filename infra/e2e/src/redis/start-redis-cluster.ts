import { freePort } from '@sluice/local/parts';
import { eventually } from '@sluice/testing';
import { type RedisServer, type RedisServerOptions, startRedisServer } from './redis-server.ts';

/** Six servers, three masters with a replica each, that are one cluster when this resolves. They end with the stack. */
export async function startRedisCluster(
  shared: Pick<RedisServerOptions, 'directory' | 'watchdog' | 'password'>,
  stack: AsyncDisposableStack,
) {
  const nodes: RedisServer[] = [];
  const addresses: string[] = [];
  while (nodes.length < 6) {
    const busPort = await freePort();
    const settings = {
      'cluster-enabled': 'yes',
      'cluster-config-file': 'nodes.conf',
      'cluster-node-timeout': 1000,
      'cluster-port': busPort,
    };
    const node = await startRedisServer({ ...shared, settings }, stack);
    nodes.push(node);
    addresses.push(`127.0.0.1:${node.port}@${busPort}`);
  }
  await nodes[0]?.runCli('--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes');
  await eventually('the cluster is whole', async () => {
    for (const { client } of nodes) {
      if (!String(await client.cluster('INFO')).includes('cluster_state:ok')) return false;
      const replication = await client.info('replication');
      if (!/connected_slaves:1|master_link_status:up/.test(replication)) return false;
    }
    return true;
  });
  return {
    url: `redis+cluster://:${shared.password}@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    /** The master that has the slot of a key, as the nodes that answer see it. */
    async masterOf(key: string): Promise<RedisServer> {
      for (const { client } of nodes) {
        if (client.status !== 'ready') continue;
        const slot = await client.cluster('KEYSLOT', key);
        const range = (await client.cluster('SLOTS')).find(([from, to]) => from <= slot && slot <= to);
        const [, port] = range?.[2] ?? [];
        const master = nodes.find((node) => node.port === port);
        if (master) return master;
      }
      throw new Error(`No node knows who has ${key}`);
    },
  };
}
