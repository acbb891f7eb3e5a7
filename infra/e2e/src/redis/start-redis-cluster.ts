import { freePort } from '@sluice/local/parts';
import { eventually } from '@sluice/testing';
import { type RedisServer, type RedisServerOptions, startRedisServer } from './redis-server.ts';

const masters = 3;
const slots = 16_384;

/** Six servers, three masters with a replica each, that are one cluster when this resolves. They end with the stack. */
export async function startRedisCluster(
  shared: Pick<RedisServerOptions, 'directory' | 'watchdog' | 'password'>,
  stack: AsyncDisposableStack,
) {
  const nodes: RedisServer[] = [];
  for (let n = 0; n < 2 * masters; n++) {
    const settings = {
      'cluster-enabled': 'yes',
      'cluster-config-file': 'nodes.conf',
      'cluster-node-timeout': 1000,
      'cluster-port': await freePort(),
    };
    nodes.push(await startRedisServer({ ...shared, settings }, stack));
  }
  await connectNodes(nodes);
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

/** What `redis-cli --cluster create` does. */
async function connectNodes(nodes: RedisServer[]): Promise<void> {
  const [first, ...others] = nodes;
  if (!first) return;
  for (const [n, { client }] of nodes.slice(0, masters).entries()) {
    const bounds = [n, n + 1].map((part) => Math.floor((part * slots) / masters));
    await client.call('CLUSTER', 'ADDSLOTSRANGE', bounds[0] ?? 0, (bounds[1] ?? 0) - 1);
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', n + 1);
  }
  const port = Number(((await first.client.config('GET', 'cluster-port')) as string[])[1]);
  for (const { client } of others) await client.call('CLUSTER', 'MEET', '127.0.0.1', first.port, port);
  const count = async ({ client }: RedisServer) =>
    ((await client.cluster('NODES')) as string).trim().split('\n').length;
  await eventually('all nodes know each other', async () => {
    for (const node of nodes) if ((await count(node)) !== nodes.length) return false;
    return true;
  });
  for (const [n, { client }] of nodes.slice(masters).entries()) {
    const id = await nodes[n]?.client.cluster('MYID');
    await client.call('CLUSTER', 'REPLICATE', String(id));
  }
  await eventually('the cluster is whole', async () => {
    for (const { client } of nodes) {
      if (!String(await client.cluster('INFO')).includes('cluster_state:ok')) return false;
      const replication = await client.info('replication');
      if (!/connected_slaves:1|master_link_status:up/.test(replication)) return false;
    }
    return true;
  });
}
