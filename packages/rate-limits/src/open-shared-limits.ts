import { connectRedis } from '@sluice/redis';
import { exportCounter, type Logger } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';
import { watchRedis } from './redis-presence.ts';
import { type SharedLimit, type SharedLimitOptions, type SharedStore, sharedLimit } from './shared-limit.ts';

export const sharedLimitSettings = {
  RATE_LIMIT_REDIS_TIMEOUT_MS: {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    default: 50,
    description:
      'Longest time for which a rate limit waits for Redis. Then the process counts alone, without the other processes',
  },
} as const;

export interface SharedLimits {
  /** Each limit of a process needs its own kind. */
  limit(options: SharedLimitOptions): SharedLimit;
  readonly decidedAlone: number;
}

/** Connects to Redis with the first limit, and works without Redis too. */
export function openSharedLimits(
  config: { REDIS_URL: string; RATE_LIMIT_REDIS_TIMEOUT_MS: number },
  { log, stack }: { log: Logger; stack: AsyncDisposableStack },
): SharedLimits {
  let decidedAlone = 0;
  let store: SharedStore | undefined;

  function openStore(): SharedStore {
    const redis = connectRedis(config.REDIS_URL, { log, stack });
    return {
      redis,
      presence: watchRedis(redis, { log, stack }),
      timeoutMs: config.RATE_LIMIT_REDIS_TIMEOUT_MS,
      onDecidedAlone: () => void decidedAlone++,
    };
  }

  return {
    limit(options) {
      store ??= openStore();
      return sharedLimit(options, store);
    },
    get decidedAlone() {
      return decidedAlone;
    },
  };
}

export function measureLocalDecisions(registry: Registry, read: () => number): void {
  exportCounter(registry, {
    name: 'sluice_rate_limit_local_decisions_total',
    help: 'Rate-limit decisions without the counts of other processes, because Redis did not respond',
    read,
  });
}
