import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { type Change, channel, encodeChange } from './change.ts';

/**
 * Tells every holder of caches what changed. Call it after commit. The write stands whether or not Redis is there:
 * a failed announcement is logged, and holders that did not hear it are bounded by their age limit.
 */
export async function announceChange(redis: Redis, log: Logger, change: Change): Promise<void> {
  try {
    await redis.publish(channel, encodeChange(change));
  } catch (error) {
    log.warn({ err: error, tags: change.tags }, 'a change could not be announced');
  }
}
