import { LRUCache } from 'lru-cache';
import { absent } from './change.ts';
import { FillGuard } from './fill-guard.ts';

/** What a read of Postgres found, and what a change must name for it to be dropped. */
export interface Loaded<V> {
  value: V;
  tags: readonly string[];
  /** From this moment by the database's clock it is not served any more: Postgres is asked. */
  expiresAt?: string | null;
  /** How much memory the value takes, about. */
  sizeBytes: number;
}

export interface CacheLimits {
  maxEntries: number;
  maxBytes: number;
  /**
   * Whether keys that led to nothing are remembered for a moment: by number, so they must be short. Whatever brings one
   * into being must name {@link absent}.
   */
  remembersAbsent?: boolean;
}

/** Whoever awaits it need not tell them apart; whoever is in a hurry awaits only a promise. */
export type AtOnceOrLater<T> = T | Promise<T>;

/** What a cache has to know of the lease under which it serves. */
export interface Lease {
  /** Whether what is cached may be served at this moment. */
  isValid(): boolean;
  /** Whether a moment (milliseconds since 1970) may have come by the database's clock. */
  mayHaveCome(momentMs: number): boolean;
}

interface Entry<V> extends Loaded<V> {
  expiresAtMs: number;
}

/** Of every entry, beside its value: the entry, its place in the maps, its tags. */
const overheadBytes = 500;
const mostAbsent = 10_000;
const absentForMs = 10_000;

/**
 * A bounded cache of what Postgres says, in step with it by the lease protocol. It serves only while the lease is valid;
 * otherwise every read goes to Postgres. Reads of one key at the same time are one, and a read that a change to what it
 * read has overtaken is handed to those who waited for it, and not kept.
 */
export class GuardedCache<V extends object> {
  /** A hit is answered from memory, also that there is nothing; a miss by Postgres. */
  readonly counts = { hits: 0, misses: 0, dropped: 0 };
  readonly #entries: LRUCache<string, Entry<V>>;
  readonly #keysByTag = new Map<string, Set<string>>();
  readonly #absent = new LRUCache<string, true>({ max: mostAbsent, ttl: absentForMs });
  readonly #fills = new Map<string, Promise<V | undefined>>();
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

  /** How many tags the entries have: none where there are no entries. */
  get tags(): number {
    return this.#keysByTag.size;
  }

  get sizeBytes(): number {
    return this.#entries.calculatedSize;
  }

  /**
   * The value of a key, from the cache or from `load`, which resolves to undefined for what does not exist. From the
   * cache it comes at once: a promise costs a hot path more than the look-up.
   */
  get(key: string, load: () => Promise<Loaded<V> | undefined>): AtOnceOrLater<V | undefined> {
    if (!this.#lease.isValid()) {
      this.counts.misses += 1;
      return load().then((loaded) => loaded?.value);
    }
    const value = this.#find(key);
    if (value || this.#isKnownAbsent(key)) return value;
    this.counts.misses += 1;
    return this.#fills.get(key) ?? this.#fill([key], async () => new Map([[key, await load()]])).get(key);
  }

  /**
   * The values of several keys: what is not cached is loaded at once. What does not exist is not in the result. When
   * all is in the cache it comes at once.
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
    const missing = keys.filter((key) => {
      const value = this.#find(key);
      if (value) found.set(key, value);
      return !value && !this.#isKnownAbsent(key);
    });
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
    for (const [key, fill] of fills) {
      const value = await fill;
      if (value) found.set(key, value);
    }
    return found;
  }

  #find(key: string): V | undefined {
    const entry = this.#entries.get(key);
    // What may be due is for Postgres to decide, whose clock it goes by.
    if (!entry || (entry.expiresAtMs < Infinity && this.#lease.mayHaveCome(entry.expiresAtMs))) return undefined;
    this.counts.hits += 1;
    return entry.value;
  }

  #isKnownAbsent(key: string): boolean {
    const isKnown = this.#absent.has(key);
    if (isKnown) this.counts.hits += 1;
    return isKnown;
  }

  /** One read for these keys. A later read of one of them joins it, unless a change came in between. */
  #fill(
    keys: readonly string[],
    load: () => Promise<ReadonlyMap<string, Loaded<V> | undefined>>,
  ): Map<string, Promise<V | undefined>> {
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
    const fills = new Map<string, Promise<V | undefined>>();
    for (const key of keys) {
      const fill = loading
        .then((loaded) => loaded.get(key)?.value)
        .finally(() => {
          if (this.#fills.get(key) === fill) this.#fills.delete(key);
        });
      // Of several that wait for one read, the first may throw it before the others are looked at.
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

  /** Drops what a change names. Reads under way are not joined any more. */
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
