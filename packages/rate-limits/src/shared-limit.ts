import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { type Redis, type RedisPresence, within } from './redis-presence.ts';
import { WindowCounter } from './window-counter.ts';

export interface SharedLimitOptions {
  /** Part of the keys in Redis, `sluice:rate:<kind>:<id>`. */
  kind: string;
  points: number;
  windowSeconds: number;
}

export interface SharedStore {
  redis: Redis;
  presence: RedisPresence;
  timeoutMs: number;
  onDecidedAlone(): void;
}

/** All processes share it; without Redis each process limits by itself. */
export interface SharedLimit {
  /** Resolves with 0 if the points may pass, or the milliseconds to wait; they count either way. Never rejects. */
  count(id: string, points?: number): Promise<number>;
}

export function sharedLimit(
  { kind, points: most, windowSeconds }: SharedLimitOptions,
  { redis, presence, timeoutMs, onDecidedAlone }: SharedStore,
): SharedLimit {
  const shared = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: `sluice:rate:${kind}`,
    points: most,
    duration: windowSeconds,
    inMemoryBlockOnConsumed: most, // a caller that has used up its window costs Redis nothing more
    rejectIfRedisNotReady: true,
  });
  const alone = new WindowCounter({ points: most, windowMs: windowSeconds * 1000 });

  function countAlone(id: string, points: number): number {
    onDecidedAlone();
    return alone.count(id, points);
  }

  return {
    async count(id, points = 1) {
      if (presence.isAway) return countAlone(id, points);
      try {
        await within(shared.consume(id, points), timeoutMs);
        return 0;
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return Math.max(refusal.msBeforeNext, 1);
        presence.lost(refusal);
        return countAlone(id, points);
      }
    },
  };
}
