import { Counter, Gauge, type Registry } from 'prom-client';
import type { GuardedCache } from './guarded-cache.ts';
import type { HeldLease } from './held-lease.ts';

export interface CacheMetricsOptions {
  caches: ReadonlyMap<string, GuardedCache<object>>;
  lease: HeldLease;
  metrics: Registry;
}

/** Registers the metrics. What the caches count is read when it is scraped, so that a look-up costs no more than an addition. */
export function exportCacheMetrics({ caches, lease, metrics }: CacheMetricsOptions): void {
  const registers = [metrics];
  new Counter({
    name: 'sluice_cache_requests_total',
    help: 'Look-ups by cache and result',
    labelNames: ['cache', 'result'],
    registers,
    collect() {
      this.reset();
      for (const [cache, { counts }] of caches) {
        this.inc({ cache, result: 'hit' }, counts.hits);
        this.inc({ cache, result: 'miss' }, counts.misses);
      }
    },
  });
  new Counter({
    name: 'sluice_cache_dropped_entries_total',
    help: 'Entries that a change dropped',
    labelNames: ['cache'],
    registers,
    collect() {
      this.reset();
      for (const [cache, { counts }] of caches) this.inc({ cache }, counts.dropped);
    },
  });
  const sizes = [
    ['sluice_cache_entries', 'Entries in memory', (cache: GuardedCache<object>) => cache.entries],
    ['sluice_cache_bytes', 'Memory of the entries, about', (cache: GuardedCache<object>) => cache.sizeBytes],
  ] as const;
  for (const [name, help, read] of sizes) {
    new Gauge({
      name,
      help,
      labelNames: ['cache'],
      registers,
      collect() {
        for (const [label, cache] of caches) this.set({ cache: label }, read(cache));
      },
    });
  }
  new Gauge({
    name: 'sluice_cache_lease_remaining_seconds',
    help: 'How long caches may serve from now on without a renewal; 0 where every read goes to Postgres',
    registers,
    collect() {
      this.set(lease.remainingMs / 1000);
    },
  });
  new Counter({
    name: 'sluice_cache_lease_renewals_total',
    help: 'Renewals of the lease by result',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      this.inc({ result: 'renewed' }, lease.counts.renewals);
      this.inc({ result: 'failed' }, lease.counts.failures);
      this.inc({ result: 'lost' }, lease.counts.losses);
    },
  });
}
