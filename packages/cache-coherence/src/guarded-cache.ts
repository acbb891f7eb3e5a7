import { LRUCache } from 'lru-cache';
import type { Change } from './change.ts';

/** What a load found. `tags` name what a change must mention for the entry to be dropped. */
export interface Loaded<V> {
  tenantId: string;
  tags: readonly string[];
  value: V;
}

export interface GuardedCacheOptions {
  maxEntries: number;
  /** Bounds how long an announcement that never came can be missed. */
  maxAgeMs: number;
  /** False while announcements may be missed: then every read goes to Postgres. */
  isLive: () => boolean;
}

/**
 * A cache that can be told of changes. Reads of one key are single-flight, and a read that was under way when any
 * change was announced is handed to its waiters but not installed.
 */
export class GuardedCache<V extends object> {
  readonly #entries: LRUCache<string, Loaded<V>>;
  readonly #fills = new Map<string, Promise<Loaded<V> | undefined>>();
  readonly #isLive: () => boolean;

  constructor({ maxEntries, maxAgeMs, isLive }: GuardedCacheOptions) {
    this.#entries = new LRUCache({ max: maxEntries, ttl: maxAgeMs });
    this.#isLive = isLive;
  }

  /** The value of the key, from the cache or from `load`. What is absent is not remembered. */
  async get(key: string, load: () => Promise<Loaded<V> | undefined>): Promise<V | undefined> {
    if (!this.#isLive()) return (await load())?.value;
    const entry = this.#entries.get(key);
    if (entry) return entry.value;
    return (await (this.#fills.get(key) ?? this.#fill(key, load)))?.value;
  }

  #fill(key: string, load: () => Promise<Loaded<V> | undefined>): Promise<Loaded<V> | undefined> {
    const isCurrent = () => this.#fills.get(key) === fill;
    const fill = load()
      .then((loaded) => {
        if (loaded && isCurrent()) this.#entries.set(key, loaded);
        return loaded;
      })
      .finally(() => {
        if (isCurrent()) this.#fills.delete(key);
      });
    this.#fills.set(key, fill);
    return fill;
  }

  /** Drops what the change concerns. Reads under way are forgotten: they may have seen the old state. */
  invalidate(change: Change): void {
    for (const [key, entry] of this.#entries.entries()) if (concerns(change, entry)) this.#entries.delete(key);
    this.#fills.clear();
  }

  /** Drops everything, reads under way included. */
  clear(): void {
    this.#entries.clear();
    this.#fills.clear();
  }
}

function concerns(change: Change, entry: Loaded<unknown>): boolean {
  if (change.tenantId !== entry.tenantId) return false;
  return change.tags.includes('tenant') || change.tags.some((tag) => entry.tags.includes(tag));
}
