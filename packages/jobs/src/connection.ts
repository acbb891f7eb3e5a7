import { Redis, type RedisOptions } from 'ioredis';

/** BullMQ asks for null where it blocks, and waits for ever then. */
type Options = Pick<RedisOptions, 'maxRetriesPerRequest'>;

/**
 * A connection for BullMQ that reconnects for ever. On disposal it ends, and with it the one that BullMQ duplicates
 * from it to block on, which BullMQ may leave behind while Redis is away.
 */
export function openConnection(url: string, stack: AsyncDisposableStack, options: Options): Redis {
  const connection = new Redis(url, {
    ...options,
    connectTimeout: 2000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000),
  });
  const all = [connection];
  const duplicate = connection.duplicate.bind(connection);
  connection.duplicate = (override) => {
    const made = duplicate(override);
    all.push(made);
    return made;
  };
  stack.defer(() => {
    for (const opened of all) opened.disconnect();
  });
  return connection;
}

const patienceMs = 1000;

/** Whether the work was done within a second; it goes on if not. For what BullMQ would wait for as long as it takes. */
export async function isDoneInTime(work: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), patienceMs);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
