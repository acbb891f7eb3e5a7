import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { type Redis, type RedisPresence, within } from './redis-presence.ts';
import { createWindowCounter } from './window-counter.ts';

export interface SharedLimitOptions {
  /** Of what: part of the keys in Redis, which are `sluice:rate:<kind>:<id>`. */
  kind: string;
  /** Most in a window. */
  points: number;
  windowSeconds: number;
  timeoutMs: number;
  redis: Redis;
  presence: RedisPresence;
}

/** A limit that all gateways keep together, or each by itself while Redis does not answer. */
export interface SharedLimit {
  /** Counts one more: 0 if it may pass, or milliseconds until one may. Never fails. */
  count(id: string): Promise<number>;
  /** How often this process decided by itself. */
  readonly decidedAlone: number;
}

export function createSharedLimit(options: SharedLimitOptions): SharedLimit {
  const { kind, points, windowSeconds, timeoutMs, redis, presence } = options;
  const shared = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: `sluice:rate:${kind}`,
    points,
    duration: windowSeconds,
    inMemoryBlockOnConsumed: points, // who has used up a window costs Redis nothing more
    rejectIfRedisNotReady: true,
  });
  const alone = createWindowCounter({ points, windowMs: windowSeconds * 1000 });
  let decidedAlone = 0;

  function countAlone(id: string): number {
    decidedAlone++;
    return alone.count(id);
  }

  return {
    async count(id) {
      if (presence.isAway) return countAlone(id);
      try {
        await within(shared.consume(id), timeoutMs);
        return 0;
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return Math.max(refusal.msBeforeNext, 1);
        presence.lost(refusal);
        return countAlone(id);
      }
    },
    get decidedAlone() {
      return decidedAlone;
    },
  };
}
