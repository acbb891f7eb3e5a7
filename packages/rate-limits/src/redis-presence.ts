import { setTimeout as wait } from 'node:timers/promises';
import type { connectRedis } from '@sluice/redis';
import type { Logger } from '@sluice/service-runtime';

export type Redis = ReturnType<typeof connectRedis>;

export interface RedisPresence {
  readonly isAway: boolean;
  /** Call it after a failed or late answer. Redis is not used again until it answers a ping. */
  lost(error: unknown): void;
}

const answerMs = 1000;
const maxPauseMs = 10_000;

/** Pings an unavailable Redis in the background, so that no request has to try whether it is back. */
export function watchRedis(redis: Redis, { log, stack }: { log: Logger; stack: AsyncDisposableStack }): RedisPresence {
  let isAway = false;
  let isClosed = false;
  stack.defer(() => {
    isClosed = true;
  });

  async function awaitReturn(): Promise<void> {
    for (let pauseMs = 250; !isClosed; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      await wait(pauseMs, undefined, { ref: false });
      if (isClosed) return;
      try {
        await within(redis.ping(), answerMs);
        isAway = false;
        log.info('rate limits are shared with the other processes again');
        return;
      } catch (error) {
        if (isClosed) return;
        log.debug({ err: error }, 'Redis does not answer yet');
        // A proxy or firewall in between may have forgotten a silent connection.
        if (redis.status === 'ready' || redis.status === 'connect') redis.disconnect(true);
      }
    }
  }

  return {
    get isAway() {
      return isAway;
    },
    lost(error) {
      if (isAway || isClosed) return;
      isAway = true;
      log.warn({ err: error }, 'Redis does not answer; this process counts for rate limits by itself');
      void awaitReturn();
    },
  };
}

export async function within<T>(answer: Promise<T>, milliseconds: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  // If this process was blocked, the answer may have arrived unread; it is read before the immediate runs.
  const timer = setTimeout(() => setImmediate(() => reject(new Error('No answer from Redis in time'))), milliseconds);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}
