import { openRedisNode } from '@sluice/redis';
import type { Logger } from 'pino';

/** Messages between processes over Redis. They only make changes fast; any of them may be lost. */
export interface Bus {
  publish(channel: string, message: object): void;
  /** Receives messages as soon as Redis is reachable. Call it once for each channel. */
  subscribe(channel: string, handle: (text: string) => void): void;
}

export interface BusOptions {
  redisUrl: string;
  log: Logger;
  stack: AsyncDisposableStack;
}

/** Ends a connection on which nothing comes back, because Redis hangs or a device in between dropped it. */
const socketTimeoutMs = 3000;
const pingIntervalMs = 1000;

/** Logged here, because no request waits for Redis, so no other code would report it. */
const awayMessage =
  'Redis is away: processes learn of changes only from Postgres, which takes longer. Is Redis running, and is REDIS_URL right?';

export function openBus({ redisUrl, log, stack }: BusOptions): Bus {
  const publisher = openRedisNode(redisUrl, {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: 2000,
    socketTimeout: socketTimeoutMs,
  });
  const subscriber = openRedisNode(redisUrl, {
    maxRetriesPerRequest: null,
    autoResubscribe: false,
    socketTimeout: socketTimeoutMs,
  });
  const handlers = new Map<string, (text: string) => void>();
  let isAway = false;
  let isClosed = false;

  const subscribeTo = (...channels: string[]) => {
    if (channels.length === 0 || subscriber.status !== 'ready') return;
    subscriber.subscribe(...channels).catch((err: unknown) => {
      // A lost connection subscribes again by itself, so only a failure on a live one is a warning.
      log[subscriber.status === 'ready' ? 'warn' : 'debug']({ err }, 'announcements could not be subscribed to');
    });
  };
  subscriber
    .on('ready', () => {
      if (isAway) log.info('announcements are heard again');
      isAway = false;
      subscribeTo(...handlers.keys());
    })
    .on('close', () => {
      if (!isAway && !isClosed) log.warn(awayMessage);
      isAway = true;
    })
    .on('error', (err) => log.debug({ err }, 'announcement connection'))
    .on('message', (channel, text) => handlers.get(channel)?.(text));
  publisher.on('error', (err) => log.debug({ err }, 'announcement connection'));
  // Without pings a connection that only listens would not notice a lost peer.
  const pings = setInterval(() => {
    if (subscriber.status === 'ready') subscriber.ping().catch((err: unknown) => log.debug({ err }, 'no answer'));
  }, pingIntervalMs);
  stack.defer(() => {
    isClosed = true;
    clearInterval(pings);
    subscriber.disconnect();
    publisher.disconnect();
  });

  return {
    publish(channel, message) {
      publisher.publish(channel, JSON.stringify(message)).catch((err: unknown) => {
        log.debug({ err, channel }, 'an announcement could not be sent');
      });
    },
    subscribe(channel, handle) {
      if (handlers.has(channel)) throw new Error(`${channel} is heard already`);
      handlers.set(channel, handle);
      subscribeTo(channel);
    },
  };
}
