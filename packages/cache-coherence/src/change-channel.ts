import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { channel, decodeChange } from './change.ts';
import { GuardedCache } from './guarded-cache.ts';

export interface ChangeChannelOptions {
  redisUrl: string;
  log: Logger;
  stack: AsyncDisposableStack;
}

export interface ChangeChannel {
  /** Whether announcements are heard at the moment. */
  isLive(): boolean;
  openCache<V extends object>(options: { maxEntries: number; maxAgeMs: number }): GuardedCache<V>;
}

/**
 * Listens to announcements and keeps the caches that it opened in step. While the connection is away nothing is served
 * from them; when it is back they start empty, since announcements were missed.
 */
export function openChangeChannel({ redisUrl, log, stack }: ChangeChannelOptions): ChangeChannel {
  const caches: GuardedCache<object>[] = [];
  let live = false;
  const subscriber = new Redis(redisUrl, {
    maxRetriesPerRequest: null,
    connectTimeout: 2000,
    autoResubscribe: false,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000),
  });
  stack.defer(() => subscriber.disconnect());

  function lose(): void {
    if (live) log.warn('announcements are not heard; caches are bypassed');
    live = false;
    clearAll();
  }

  function clearAll(): void {
    for (const cache of caches) cache.clear();
  }

  subscriber.on('ready', () => {
    subscriber.subscribe(channel).then(
      () => {
        clearAll();
        live = true;
      },
      (error: unknown) => log.warn({ err: error }, 'could not subscribe to announcements'),
    );
  });
  subscriber.on('close', lose);
  subscriber.on('error', (error) => log.debug({ err: error }, 'announcement connection'));
  subscriber.on('message', (_channel, text) => {
    const change = decodeChange(text);
    if (!change) {
      log.warn('an announcement was not readable; caches start empty');
      return clearAll();
    }
    for (const cache of caches) cache.invalidate(change);
  });

  return {
    isLive: () => live,
    openCache<V extends object>(options: { maxEntries: number; maxAgeMs: number }) {
      const cache = new GuardedCache<V>({ ...options, isLive: () => live });
      caches.push(cache as unknown as GuardedCache<object>);
      return cache;
    },
  };
}
