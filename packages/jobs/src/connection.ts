import { openRedis, type RedisClient } from '@sluice/service-runtime';
import { Cluster, type RedisOptions } from 'ioredis';

/** BullMQ asks for null where it blocks, and waits for ever then. */
type Options = Pick<RedisOptions, 'maxRetriesPerRequest'>;

export interface Connection {
  /** For BullMQ; it duplicates one to block on from it. */
  redis: RedisClient;
  /** Whether Redis can be used at the moment, through the duplicates as well. */
  isReady(): boolean;
}

/**
 * A connection that reconnects for ever. On disposal it ends, and with it its duplicates, which BullMQ may leave behind
 * while Redis is away.
 */
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

/** Whether the work was done within a second; it goes on if not. For what BullMQ would wait for as long as it takes. */
export async function isDoneInTime(work: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), patienceMs);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
