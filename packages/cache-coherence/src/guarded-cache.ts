import { LRUCache } from 'lru-cache';
import type { AtOnceOrLater } from './at-once-or-later.ts';
import { absent } from './change.ts';
import { FillGuard } from './fill-guard.ts';

/** What a read of Postgres has found, and the tags by which a change drops it. */
export interface Loaded<V> {
  value: V;
  tags: readonly string[];
  /** From this moment on, by the database's clock, the entry is not served and Postgres is asked. */
  expiresAt?: string | null;
  /** Approximate memory of the value, in bytes. */
  sizeBytes: number;
}

export interface CacheLimits {
  maxEntries: number;
  maxBytes: number;
  /**
   * Whether keys that do not exist are remembered. They are bounded by number, so they must be short. A change that creates
   * one must name {@link absent}.
   */
  remembersAbsent?: boolean;
}

/** What a cache must know about the lease under which it serves. */
export interface Lease {
  /** Whether cached entries may be served at this moment. */
  isValid(): boolean;
  /** Whether a moment (milliseconds since 1970) may have come by the database's clock. */
  mayHaveCome(momentMs: number): boolean;
}

interface Entry<V> extends Loaded<V> {
  expiresAtMs: number;
}

/** Memory of an entry beside its value: the entry itself, its place in the maps, its tags. */
const overheadBytes = 500;
const mostAbsent = 10_000;
const absentForMs = 10_000;

/**
 * A bounded cache of rows of Postgres, kept coherent by the lease protocol. It serves only while the lease is valid;
 * otherwise every read goes to Postgres. Concurrent reads of one key share one query. A read that a change has overtaken
 * is given to the callers that waited for it and is not cached.
 */
export class GuardedCache<V extends object> {
  /** A hit is answered from memory, a remembered absence included; a miss by Postgres. */
  readonly counts = { hits: 0, misses: 0, dropped: 0 };
  readonly #entries: LRUCache<string, Entry<V>>;
  readonly #keysByTag = new Map<string, Set<string>>();
  readonly #absent = new LRUCache<string, true>({ max: mostAbsent, ttl: absentForMs });
  readonly #fills = new Map<string, Promise<Loaded<V> | undefined>>();
  readonly #guard = new FillGuard();
  readonly #lease: Lease;
  readonly #remembersAbsent: boolean;

  constructor(lease: Lease, { maxEntries, maxBytes, remembersAbsent = false }: CacheLimits) {
    this.#lease = lease;
    this.#remembersAbsent = remembersAbsent;
    this.#entries = new LRUCache({
      max: maxEntries,
      maxSize: maxBytes,
      sizeCalculation: (entry) => entry.sizeBytes + overheadBytes,
      onInsert: (entry, key) => this.#addToTags(key, entry.tags),
      dispose: (entry, key) => this.#removeFromTags(key, entry.tags),
    });
  }

  get entries(): number {
    return this.#entries.size;
  }

  /** Number of tags of all entries. */
  get tags(): number {
    return this.#keysByTag.size;
  }

  get sizeBytes(): number {
    return this.#entries.calculatedSize;
  }

  /**
   * The value of a key, from the cache or from `load`, which resolves to undefined for what does not exist. A cached value
   * is returned without a promise, because a promise costs a hot path more than the look-up.
   */
  get(key: string, load: () => Promise<Loaded<V> | undefined>): AtOnceOrLater<V | undefined> {
    if (!this.#lease.isValid()) {
      this.counts.misses += 1;
      return load().then((loaded) => loaded?.value);
    }
    const value = this.#find(key);
    if (value || this.#isKnownAbsent(key)) return value;
    this.counts.misses += 1;
    const joined = this.#fills.get(key);
    if (joined) return joined.then(async (loaded) => (this.#mayHaveExpired(loaded) ? await load() : loaded)?.value);
    const fill = this.#fill([key], async () => new Map([[key, await load()]])).get(key);
    return fill?.then((loaded) => loaded?.value);
  }

  /**
   * The values of several keys. Keys that are not cached are loaded by one call; keys that do not exist are left out of the
   * result. When all are cached the result is returned without a promise.
   */
  getMany(
    keys: readonly string[],
    load: (missing: readonly string[]) => Promise<Map<string, Loaded<V>>>,
  ): AtOnceOrLater<Map<string, V>> {
    const found = new Map<string, V>();
    if (!this.#lease.isValid()) {
      this.counts.misses += keys.length;
      return load(keys).then((loaded) => {
        for (const [key, { value }] of loaded) found.set(key, value);
        return found;
      });
    }
    const missing: string[] = [];
    for (const key of keys) {
      const value = this.#find(key);
      if (value) found.set(key, value);
      else if (!this.#isKnownAbsent(key)) missing.push(key);
    }
    return missing.length === 0 ? found : this.#addMissing(found, missing, load);
  }

  async #addMissing(
    found: Map<string, V>,
    missing: readonly string[],
    load: (missing: readonly string[]) => Promise<Map<string, Loaded<V>>>,
  ): Promise<Map<string, V>> {
    this.counts.misses += missing.length;
    const unread = missing.filter((key) => !this.#fills.has(key));
    const fills = new Map(missing.map((key) => [key, this.#fills.get(key)]));
    if (unread.length > 0) for (const [key, fill] of this.#fill(unread, async () => load(unread))) fills.set(key, fill);
    const expired: string[] = [];
    for (const [key, fill] of fills) {
      const loaded = await fill;
      if (!unread.includes(key) && this.#mayHaveExpired(loaded)) expired.push(key);
      else if (loaded) found.set(key, loaded.value);
    }
    if (expired.length > 0) for (const [key, { value }] of await load(expired)) found.set(key, value);
    return found;
  }

  #find(key: string): V | undefined {
    const entry = this.#entries.get(key);
    // Only Postgres can decide whether an entry has expired, because its clock counts.
    if (!entry || (entry.expiresAtMs < Infinity && this.#lease.mayHaveCome(entry.expiresAtMs))) return undefined;
    this.counts.hits += 1;
    return entry.value;
  }

  /** A read that was joined may have found what had not expired then, but had when it was joined. */
  #mayHaveExpired(loaded: Loaded<V> | undefined): boolean {
    return loaded?.expiresAt ? this.#lease.mayHaveCome(Date.parse(loaded.expiresAt)) : false;
  }

  #isKnownAbsent(key: string): boolean {
    const isKnown = this.#absent.has(key);
    if (isKnown) this.counts.hits += 1;
    return isKnown;
  }

  /** Reads these keys once. A later read of one of them joins this one, unless a change came in between. */
  #fill(
    keys: readonly string[],
    load: () => Promise<ReadonlyMap<string, Loaded<V> | undefined>>,
  ): Map<string, Promise<Loaded<V> | undefined>> {
    const position = this.#guard.begin();
    const loading = load().then(
      (loaded) => {
        this.#install(keys, loaded, position);
        return loaded;
      },
      (error: unknown) => {
        this.#guard.end(position, []);
        throw error;
      },
    );
    const fills = new Map<string, Promise<Loaded<V> | undefined>>();
    for (const key of keys) {
      const fill = loading
        .then((loaded) => loaded.get(key))
        .finally(() => {
          if (this.#fills.get(key) === fill) this.#fills.delete(key);
        });
      // Several callers may wait for one read; without this, a rejection could be unhandled before all of them await it.
      fill.catch(() => undefined);
      fills.set(key, fill);
      this.#fills.set(key, fill);
    }
    return fills;
  }

  #install(keys: readonly string[], loaded: ReadonlyMap<string, Loaded<V> | undefined>, position: number): void {
    const tags = keys.flatMap((key) => loaded.get(key)?.tags ?? absent);
    if (!this.#guard.end(position, tags)) return;
    for (const key of keys) {
      const one = loaded.get(key);
      if (one) this.#entries.set(key, { ...one, expiresAtMs: one.expiresAt ? Date.parse(one.expiresAt) : Infinity });
      else if (this.#remembersAbsent) this.#absent.set(key, true);
    }
  }

  /** Drops what a change names. Later reads do not join reads that are under way. */
  drop(tags: readonly string[]): void {
    this.#guard.note(tags);
    this.#fills.clear();
    for (const tag of tags) {
      if (tag === absent) this.#absent.clear();
      for (const key of [...(this.#keysByTag.get(tag) ?? [])]) {
        this.counts.dropped += 1;
        this.#entries.delete(key);
      }
    }
  }

  /** Drops one entry, if this is its value. */
  forget(key: string, value: V): void {
    if (this.#entries.peek(key)?.value === value) this.#entries.delete(key);
  }

  /** Drops everything, reads under way included. */
  clear(): void {
    this.#guard.noteEverything();
    this.#fills.clear();
    this.#absent.clear();
    this.#entries.clear();
  }

  #addToTags(key: string, tags: readonly string[]): void {
    for (const tag of tags) {
      const keys = this.#keysByTag.get(tag);
      if (keys) keys.add(key);
      else this.#keysByTag.set(tag, new Set([key]));
    }
  }

  #removeFromTags(key: string, tags: readonly string[]): void {
    for (const tag of tags) {
      const keys = this.#keysByTag.get(tag);
      keys?.delete(key);
      if (keys?.size === 0) this.#keysByTag.delete(tag);
    }
  }
}
