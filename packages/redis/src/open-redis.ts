import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { type RedisAddress, readRedisUrl } from './redis-address.ts';

export type RedisClient = Redis | Cluster;

export type RedisClientOptions = Pick<
  RedisOptions,
  'autoResubscribe' | 'commandTimeout' | 'enableOfflineQueue' | 'maxRetriesPerRequest' | 'socketTimeout'
>;

type Credentials = { username?: string; password?: string; tls?: object };

const common = {
  connectTimeout: 2000,
  retryStrategy: (attempt: number) => Math.min(50 * 2 ** attempt, 1000),
};

/** For one server, the master that Sentinels name, or a whole cluster. Reconnects for ever. */
export function openRedis(url: string, options: RedisClientOptions): RedisClient {
  const address = readRedisUrl(url);
  if (address.kind !== 'cluster') return openServer(url, address, options);
  const { enableOfflineQueue = true, ...ofNodes } = options;
  return new Cluster(address.hosts, {
    enableOfflineQueue,
    redisOptions: { ...ofNodes, ...credentialsOf(address), connectTimeout: common.connectTimeout },
    clusterRetryStrategy: common.retryStrategy,
    slotsRefreshTimeout: common.connectTimeout,
    // Nodes are connected to by their names, for which their certificates are made.
    dnsLookup: (name, callback) => callback(null, name),
  });
}

/** To publish and subscribe; one node of a cluster is enough. The next node replaces one that is lost or silent. */
export function openRedisNode(url: string, options: RedisClientOptions): Redis {
  const address = readRedisUrl(url);
  if (address.kind !== 'cluster') return openServer(url, address, options);
  const { hosts } = address;
  let turn = Math.floor(Math.random() * hosts.length);
  const client: Redis = new Redis({
    ...options,
    ...credentialsOf(address),
    ...hosts[turn],
    ...common,
    retryStrategy(attempt) {
      turn = (turn + 1) % hosts.length;
      Object.assign(client.options, hosts[turn]); // read at each attempt to connect
      return common.retryStrategy(attempt);
    },
  });
  return client;
}

function openServer(
  url: string,
  address: Exclude<RedisAddress, { kind: 'cluster' }>,
  options: RedisClientOptions,
): Redis {
  if (address.kind === 'server') return new Redis(url, { ...options, ...common });
  const { hosts, name, db, sentinelPassword } = address;
  return new Redis({
    ...options,
    ...common,
    ...credentialsOf(address),
    db,
    name,
    sentinels: hosts,
    sentinelRetryStrategy: common.retryStrategy,
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(address.tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  });
}

function credentialsOf({ username, password, tls }: RedisAddress): Credentials {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
  };
}
