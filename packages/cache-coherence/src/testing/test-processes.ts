import { type Logger, serviceLogger } from '@sluice/service-runtime';
import { type TestDatabase, testRedisUrl } from '@sluice/testing';
import { Registry } from 'prom-client';
import { type Bus, openBus } from '../bus.ts';
import { type ChangeWriter, type ChangeWriterOptions, openChangeWriter } from '../change-writer.ts';
import { type CoherentCaches, openCoherentCaches } from '../coherent-caches.ts';
import type { GuardedCache } from '../guarded-cache.ts';
import { loaded, type Value } from './test-cache.ts';
import { silent } from './test-lease.ts';

export interface ProcessOptions {
  redisUrl?: string;
  databaseUrl?: string;
  log?: Logger;
  metrics?: Registry;
  bus?: Bus;
}

export interface TestHolder {
  caches: CoherentCaches;
  cache: GuardedCache<Value>;
  read(state: string): Promise<string | undefined>;
  stop(): Promise<void>;
}

export const tag = 'proxy:1';

export async function openHolder(
  { url }: TestDatabase,
  stack: AsyncDisposableStack,
  options: ProcessOptions = {},
): Promise<TestHolder> {
  const { redisUrl = testRedisUrl(), databaseUrl = url, log = silent, metrics = new Registry() } = options;
  const own = new AsyncDisposableStack();
  stack.defer(() => own.disposeAsync());
  const bus = options.bus ?? openBus({ redisUrl, log, stack: own });
  const caches = await openCoherentCaches({ databaseUrl, bus, service: 'holder', log, metrics, stack: own });
  const cache = caches.open<Value>('values', { maxEntries: 100, maxBytes: 100_000 });
  return {
    caches,
    cache,
    read: async (state) => (await cache.get('k', async () => loaded(state, [tag])))?.value,
    stop: () => own.disposeAsync(),
  };
}

export function openWriter(
  { db }: Pick<TestDatabase, 'db'>,
  stack: AsyncDisposableStack,
  options: ProcessOptions & Pick<ChangeWriterOptions, 'caches' | 'deadlineMs'> = {},
): ChangeWriter {
  const { redisUrl = testRedisUrl(), log = silent, metrics = new Registry() } = options;
  const bus = options.bus ?? openBus({ redisUrl, log, stack });
  return openChangeWriter({ ...options, db, bus, log, metrics, stack });
}

export function localBus(): Bus {
  const handlers = new Map<string, ((text: string) => void)[]>();
  return {
    publish(channel, message) {
      for (const handle of handlers.get(channel) ?? []) handle(JSON.stringify(message));
    },
    subscribe: (channel, handle) => void handlers.set(channel, [...(handlers.get(channel) ?? []), handle]),
  };
}

export function recordingLog(): { log: Logger; lines: () => Record<string, unknown>[] } {
  const texts: string[] = [];
  const log = serviceLogger({ service: 'test', level: 'debug' }, { write: (line: string) => void texts.push(line) });
  return { log, lines: () => texts.map((text) => JSON.parse(text)) };
}
