import type { Logger } from './logger.ts';
import { openRedis, type RedisClient } from './open-redis.ts';

/**
 * Reconnects for ever, until the stack closes. Commands wait at most 2 s for the first attempt to connect; after that
 * they fail at once while Redis is away, so that no request waits for it.
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
