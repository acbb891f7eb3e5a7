import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { type Redis, type RedisPresence, within } from './redis-presence.ts';
import { createWindowCounter } from './window-counter.ts';

export interface SharedLimitOptions {
  /** Of what: part of the keys in Redis, which are `sluice:rate:<kind>:<id>`. */
  kind: string;
  /** Most in a window. */
  points: number;
  windowSeconds: number;
}

/** What all limits of a process have in common. */
export interface SharedStore {
  redis: Redis;
  presence: RedisPresence;
  timeoutMs: number;
  /** This process decided by itself. */
  onDecidedAlone(): void;
}

/** A limit that all processes keep together, or each by itself while Redis does not answer. */
export interface SharedLimit {
  /**
   * Counts one more, or as many as are given: 0 if they may pass, or milliseconds until some may. What goes beyond uses the
   * window up. Never fails.
   */
  count(id: string, points?: number): Promise<number>;
}

export function createSharedLimit(
  { kind, points: most, windowSeconds }: SharedLimitOptions,
  { redis, presence, timeoutMs, onDecidedAlone }: SharedStore,
): SharedLimit {
  const shared = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: `sluice:rate:${kind}`,
    points: most,
    duration: windowSeconds,
    inMemoryBlockOnConsumed: most, // who has used up a window costs Redis nothing more
    rejectIfRedisNotReady: true,
  });
  const alone = createWindowCounter({ points: most, windowMs: windowSeconds * 1000 });

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
