import { connectDatabase } from '@sluice/database';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { acknowledgementsChannel, changesChannel, readAnnouncement } from './announcement.ts';
import type { Bus } from './bus.ts';
import { type CacheLimits, GuardedCache } from './guarded-cache.ts';
import { HeldLease } from './held-lease.ts';
import { exportCacheMetrics } from './metrics.ts';
import { Watches } from './watches.ts';

export interface CoherentCachesOptions {
  /** Renewals have their own connection, so that they never wait for a full pool. */
  databaseUrl: string;
  bus: Bus;
  service: string;
  log: Logger;
  metrics: Registry;
  stack: AsyncDisposableStack;
}

export interface CoherentCaches {
  /** `name` labels metrics. @throws {Error} when another cache has this name. */
  open<V extends object>(name: string, limits: CacheLimits): GuardedCache<V>;
  /**
   * Calls `onChange`, which must not throw, when a tag changes and when the lease is lost, so that a long response can
   * end with its right. @returns a function that stops this.
   */
  watch(tags: readonly string[], onChange: () => void): () => void;
  drop(tags: readonly string[]): void;
  /**
   * Increases before listeners are called, whenever something is dropped or the lease is lost. NaN while the lease is
   * invalid. If two calls return equal numbers, no change was confirmed between them.
   */
  invalidations(): number;
  /** Whether the database's clock may have reached this time (milliseconds since 1970). */
  mayHaveCome(momentMs: number): boolean;
  /** Undefined while this process has no lease. */
  holderId(): string | undefined;
}

const statementTimeoutMs = 500;

/**
 * Registers this process as a holder, retrying until Postgres answers; until then the caches serve nothing. It
 * acknowledges announcements once it has dropped the named entries. A lost announcement arrives in the mailbox of its
 * lease.
 */
export async function openCoherentCaches(options: CoherentCachesOptions): Promise<CoherentCaches> {
  const { databaseUrl, bus, service, log, metrics, stack } = options;
  const caches = new Map<string, GuardedCache<object>>();
  const watches = new Watches();
  let invalidations = 0;
  const drop = (tags: readonly string[]) => {
    invalidations += 1;
    for (const cache of caches.values()) cache.drop(tags);
    watches.tell(tags);
  };
  const clear = () => {
    invalidations += 1;
    for (const cache of caches.values()) cache.clear();
    watches.tellAll();
  };
  const db = connectDatabase(
    { DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: 1, DATABASE_WAIT_MS: 600 },
    { stack, onError: (err) => log.debug({ err }, 'lease connection'), statementTimeoutMs, openWithinMs: 600 },
  );
  const lease = new HeldLease({ db, service, log, onChange: ({ tags }) => drop(tags), onLoss: clear });
  stack.defer(() => lease.close());

  bus.subscribe(changesChannel, (text) => {
    const announcement = readAnnouncement(text);
    if (!announcement) {
      log.warn('an unreadable announcement: caches were cleared');
      return clear();
    }
    drop(announcement.tags);
    const holderId = lease.holderId;
    if (holderId === undefined) return;
    bus.publish(acknowledgementsChannel(announcement.writerId), { changeId: announcement.id, holderId });
  });
  exportCacheMetrics({ caches, lease, metrics });
  await lease.start();

  return {
    drop,
    invalidations: () => (lease.isValid() ? invalidations : Number.NaN),
    mayHaveCome: (momentMs) => lease.mayHaveCome(momentMs),
    watch: (tags, onChange) => watches.add(tags, onChange),
    holderId: () => lease.holderId,
    open<V extends object>(name: string, limits: CacheLimits) {
      if (caches.has(name)) throw new Error(`a cache "${name}" is open already`);
      const cache = new GuardedCache<V>(lease, limits);
      caches.set(name, cache as unknown as GuardedCache<object>);
      return cache;
    },
  };
}
