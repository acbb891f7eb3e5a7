import type { CacheLimits } from './guarded-cache.ts';

export const cacheSettings = {
  CACHE_MAX_ENTRIES: {
    type: 'integer',
    minimum: 1,
    default: 10_000,
    description: 'Limit of cached entries of one kind: callers, Proxies, tokens or data keys',
  },
  CACHE_MAX_BYTES: {
    type: 'integer',
    minimum: 65_536,
    default: 16 * 1024 * 1024,
    description: 'Limit of memory for cached entries of one kind',
  },
} as const;

export function cacheLimitsFrom(config: { CACHE_MAX_ENTRIES: number; CACHE_MAX_BYTES: number }): CacheLimits {
  return { maxEntries: config.CACHE_MAX_ENTRIES, maxBytes: config.CACHE_MAX_BYTES };
}
