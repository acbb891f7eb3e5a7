import type { Logger } from './logger.ts';
import { openRedis, type RedisClient } from './open-redis.ts';

/**
 * A Redis connection that reconnects for ever. Commands wait for the first attempt to connect, at most 2 s. After that they
 * fail at once while Redis is away, so that no request waits for it. It closes with the stack.
 */
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
