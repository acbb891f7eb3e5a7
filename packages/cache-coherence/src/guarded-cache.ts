import { LRUCache } from 'lru-cache';
import { absent } from './change.ts';
import { FillGuard } from './fill-guard.ts';

export interface Loaded<V> {
  value: V;
  tags: readonly string[];
  /** After this time of the database's clock the entry is not used, and Postgres is asked instead. */
  expiresAt?: string | null;
  sizeBytes: number;
}

/** A cached value needs no promise, because one costs more than the look-up. */
export type AtOnceOrLater<T> = T | Promise<T>;

export interface CacheLimits {
  maxEntries: number;
  maxBytes: number;
  /**
   * Caches absences too; their keys must be short. A change that creates such a key must have the tag {@link absent}.
   */
  remembersAbsent?: boolean;
}

export interface Lease {
  isValid(): boolean;
  /** Whether the database's clock may have reached this time (milliseconds since 1970). */
  mayHaveCome(momentMs: number): boolean;
}

interface Entry<V> extends Loaded<V> {
  expiresAtMs: number;
}

/** Size of an entry without its value: itself, its place in the maps, its tags. */
const overheadBytes = 500;
const mostAbsent = 10_000;
const absentForMs = 10_000;

/**
 * A bounded cache of rows of Postgres, coherent by the lease protocol. While the lease is invalid every read goes to
 * Postgres. Concurrent reads of one key share a query. A read that a change has overtaken is returned but not cached.
 */
export class GuardedCache<V extends object> {
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

  get tags(): number {
    return this.#keysByTag.size;
  }

  get sizeBytes(): number {
    return this.#entries.calculatedSize;
  }

  /** `load` returns undefined for an absence. */
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

  /** Loads all missing keys with one call, and omits unknown ones. Returns no promise if all are cached. */
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
    // Only Postgres can decide by its clock whether an entry has expired.
    if (!entry || (entry.expiresAtMs < Infinity && this.#lease.mayHaveCome(entry.expiresAtMs))) return undefined;
    this.counts.hits += 1;
    return entry.value;
  }

  /** A shared read may have found a row that has expired since. */
  #mayHaveExpired(loaded: Loaded<V> | undefined): boolean {
    return loaded?.expiresAt ? this.#lease.mayHaveCome(Date.parse(loaded.expiresAt)) : false;
  }

  #isKnownAbsent(key: string): boolean {
    const isKnown = this.#absent.has(key);
    if (isKnown) this.counts.hits += 1;
    return isKnown;
  }

  /** A later read of one of these keys shares this one, unless a change came in between. */
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
      // The callers await it later, and until then a rejection must not count as unhandled.
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

  /** Later reads do not share reads in progress. */
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

  forget(key: string, value: V): void {
    if (this.#entries.peek(key)?.value === value) this.#entries.delete(key);
  }

  /** Reads in progress are not cached either. */
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
