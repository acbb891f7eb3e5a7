import type { Logger } from '@sluice/service-runtime';
import { openRedis, type RedisClient } from './open-redis.ts';

/** Reconnects for ever. Commands wait for the first connection, at most 2 s, and later fail at once without Redis. */
export function connectRedis(url: string, { log, stack }: { log: Logger; stack: AsyncDisposableStack }): RedisClient {
  const redis = openRedis(url, { maxRetriesPerRequest: 0 });
  const failAtOnce = () => {
    redis.options.enableOfflineQueue = false;
  };
  redis.once('ready', failAtOnce).once('error', failAtOnce);
  let away = false;
  redis.on('error', (error) => {
    if (!away) log.warn({ err: error }, 'Redis is away');
    away = true;
  });
  redis.on('ready', () => {
    if (away) log.info('Redis is back');
    away = false;
  });
  stack.defer(() => redis.disconnect());
  return redis;
}
