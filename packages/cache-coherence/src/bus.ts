import { openRedisNode } from '@sluice/service-runtime';
import type { Logger } from 'pino';

/** Messages between processes: quick where Redis is well, and nothing that safety rests on. Any of them may be lost. */
export interface Bus {
  /** Sends, and waits for nothing. */
  publish(channel: string, message: object): void;
  /** Calls `handle` with the text of each message of the channel, from when Redis is there. Once for each channel. */
  subscribe(channel: string, handle: (text: string) => void): void;
}

export interface BusOptions {
  redisUrl: string;
  log: Logger;
  stack: AsyncDisposableStack;
}

/** A Redis that hangs, or a connection that something between has forgotten: what waits for it is cut off. */
const socketTimeoutMs = 3000;
const pingIntervalMs = 1000;

/** Nothing waits for Redis, so that nobody else would tell. */
const awayMessage =
  'Redis is away: announcements are not heard, changes come by the mailbox of the lease; is it running, and is REDIS_URL right?';

/** Opens two connections, which reconnect for ever. Close with the stack. */
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
      // On a connection that is lost it is done again with the next one.
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
  // Who only listens would not notice that nothing can come any more.
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
