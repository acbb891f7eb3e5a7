import { exportCounter, exportGauge } from '@sluice/service-runtime';
import { Counter, type Registry } from 'prom-client';
import type { GuardedCache } from './guarded-cache.ts';
import type { HeldLease } from './held-lease.ts';

export interface CacheMetricsOptions {
  caches: ReadonlyMap<string, GuardedCache<object>>;
  lease: HeldLease;
  metrics: Registry;
}

/** Figures are computed at each scrape, so a look-up costs no more than an addition. */
export function exportCacheMetrics({ caches, lease, metrics }: CacheMetricsOptions): void {
  const ofEach = (read: (cache: GuardedCache<object>) => number) => () =>
    Object.fromEntries([...caches].map(([name, cache]) => [name, read(cache)]));
  new Counter({
    name: 'sluice_cache_requests_total',
    help: 'Look-ups in caches',
    labelNames: ['cache', 'result'],
    registers: [metrics],
    collect() {
      this.reset();
      for (const [cache, { counts }] of caches) {
        this.inc({ cache, result: 'hit' }, counts.hits);
        this.inc({ cache, result: 'miss' }, counts.misses);
      }
    },
  });
  exportCounter(metrics, {
    name: 'sluice_cache_dropped_entries_total',
    help: 'Entries removed from caches because of changes',
    by: 'cache',
    read: ofEach(({ counts }) => counts.dropped),
  });
  exportGauge(metrics, {
    name: 'sluice_cache_entries',
    help: 'Cached entries',
    by: 'cache',
    read: ofEach(({ entries }) => entries),
  });
  exportGauge(metrics, {
    name: 'sluice_cache_bytes',
    help: 'Approximate memory of cached entries',
    by: 'cache',
    read: ofEach(({ sizeBytes }) => sizeBytes),
  });
  exportGauge(metrics, {
    name: 'sluice_cache_lease_remaining_seconds',
    help: 'How long caches may be used until the lease must be renewed. 0: every read goes to Postgres',
    read: () => lease.remainingMs / 1000,
  });
  exportCounter(metrics, {
    name: 'sluice_cache_lease_renewals_total',
    help: 'Lease renewals',
    by: 'result',
    read: () => ({ renewed: lease.counts.renewals, failed: lease.counts.failures, lost: lease.counts.losses }),
  });
}
