import { Cluster, type RedisOptions } from 'ioredis';
import { openRedis, type RedisClient } from '../open-redis.ts';

/** BullMQ requires null for blocking connections, and then they wait for ever. */
type Options = Pick<RedisOptions, 'maxRetriesPerRequest'>;

export interface Connection {
  redis: RedisClient;
  /** Whether Redis can be used now, also through the duplicates. */
  isReady(): boolean;
}

/** Reconnects for ever. Disposal also ends duplicates, which BullMQ leaves behind without Redis. */
export function openConnection(url: string, stack: AsyncDisposableStack, options: Options): Connection {
  const redis = openRedis(url, options);
  const all = [redis];
  const kept = <C extends RedisClient>(made: C): C => {
    all.push(made);
    return made;
  };
  if (redis instanceof Cluster) {
    const duplicate = redis.duplicate.bind(redis);
    redis.duplicate = (nodes, override) => kept(duplicate(nodes, override));
  } else {
    const duplicate = redis.duplicate.bind(redis);
    redis.duplicate = (override) => kept(duplicate(override));
  }
  stack.defer(() => {
    for (const opened of all) opened.disconnect();
  });
  return { redis, isReady: () => all.every(({ status }) => status === 'ready') };
}

const patienceMs = 1000;

/** False if the work takes longer than a second; it continues then. BullMQ would await it for ever. */
export async function isDoneInTime(work: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), patienceMs);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
