import { createSecretKey, type KeyObject } from 'node:crypto';
import { tenantClosed } from '@sluice/audit';
import { type AtOnceOrLater, type CoherentCaches, type Loaded, tagOf } from '@sluice/cache-coherence';
import { asTenant, type Database, type Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import {
  findNewestVersion,
  findWrappedKey,
  insertDataKey,
  isTenantClosed,
  type KeyOwner,
  reserveUses,
  type WrappedKey,
} from './data-key.queries.ts';
import { DataKeyError } from './data-key-error.ts';
import { contextOf, dataKeyBytes, generateDataKey } from './generate-data-key.ts';
import { mostEncryptions } from './key-usage.ts';
import type { KeyWrapper } from './key-wrapper.ts';

export interface DataKey {
  version: number;
  key: KeyObject;
}

/** Creates a key when it is first needed, and unwraps it once. */
export interface DataKeys {
  /** In a transaction pass it as `db`. @throws {DataKeyError} for a key that is missing or cannot be unwrapped. */
  find(owner: KeyOwner, version: number, db?: Queryable): AtOnceOrLater<KeyObject>;
  /** The newest key, after counting this many encryptions in the table. */
  reserve(owner: KeyOwner, uses: number): Promise<DataKey>;
  /** The key of a keyed hash. It never gets a second version, because then equal values would have different hashes. */
  forHashing(owner: KeyOwner): Promise<KeyObject>;
}

export interface DataKeysOptions {
  db: Database;
  keyWrapper: KeyWrapper;
  caches: CoherentCaches;
  reservationSize?: number;
  maximumUses?: number;
}

interface Reservation {
  version: number;
  remaining: number;
}

const hashingVersion = 1;
const mostKeys = 10_000;
const keyBytes = 500;
const limits = { maxEntries: mostKeys, maxBytes: mostKeys * 2 * keyBytes };

export function cachedDataKeys(options: DataKeysOptions): DataKeys {
  const { db, keyWrapper, caches, reservationSize = 1024, maximumUses = mostEncryptions } = options;
  const unwrapped = caches.open<KeyObject>('data_keys', limits);
  const reservations = caches.open<Reservation>('data_key_reservations', limits);
  const once = singleFlight();

  function load(owner: KeyOwner, version: number, on: Queryable = db): AtOnceOrLater<KeyObject | undefined> {
    return unwrapped.get(contextOf(owner, version), async () => {
      const row = await asTenant(owner.tenantId, () => findWrappedKey(on, owner, version));
      return row && loaded(owner, await unwrap(row, owner));
    });
  }

  async function unwrap(row: WrappedKey, owner: KeyOwner): Promise<KeyObject> {
    try {
      const context = contextOf(owner, row.version);
      const bytes = await keyWrapper.unwrap(row.wrapped_key, { context, keyId: row.root_key_id });
      if (bytes.length !== dataKeyBytes) throw new Error(`it is ${bytes.length} bytes long`);
      const key = createSecretKey(bytes);
      bytes.fill(0);
      return key;
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause; // the key service is unavailable
      throw new DataKeyError({ owner, version: row.version, rootKeyId: row.root_key_id }, { cause });
    }
  }

  async function addVersion(owner: KeyOwner, version: number): Promise<void> {
    await insertDataKey(db, owner, await generateDataKey(keyWrapper, owner, version));
  }

  async function reserveInTable(owner: KeyOwner, uses: number): Promise<number> {
    if (uses > maximumUses) throw new Error(`${uses} uses of one data key are more than it may have`);
    for (;;) {
      const reserved = await reserveUses(db, owner, { uses, maximumUses });
      if (reserved !== undefined) return reserved;
      const newest = await findNewestVersion(db, owner);
      if (newest.version > 0 && newest.use_count + uses <= maximumUses) continue;
      await addVersion(owner, newest.version + 1);
      if (await isTenantClosed(db, owner.tenantId)) throw tenantClosed();
    }
  }

  function find(owner: KeyOwner, version: number, on: Queryable = db): AtOnceOrLater<KeyObject> {
    const key = load(owner, version, on);
    return key && !(key instanceof Promise) ? key : findMissing(key, { owner, version, on });
  }

  async function findMissing(
    loading: Promise<KeyObject | undefined> | undefined,
    { owner, version, on }: { owner: KeyOwner; version: number; on: Queryable },
  ): Promise<KeyObject> {
    const key = await loading;
    if (key) return key;
    // A Tenant that was closed during the request has no keys any more.
    if (await isTenantClosed(on, owner.tenantId)) throw tenantClosed();
    throw new DataKeyError({ owner, version });
  }

  async function reserve(owner: KeyOwner, uses: number): Promise<DataKey> {
    const version = uses >= reservationSize ? await reserveInTable(owner, uses) : await takeReserved(owner, uses);
    return { version, key: await find(owner, version) };
  }

  async function takeReserved(owner: KeyOwner, uses: number): Promise<number> {
    const name = `${owner.tenantId}/${owner.purpose}`;
    for (;;) {
      const held = await reservations.get(name, async () =>
        loaded(owner, { version: await reserveInTable(owner, reservationSize), remaining: reservationSize }),
      );
      if (held && held.remaining >= uses) {
        held.remaining -= uses;
        return held.version;
      }
      if (held) reservations.forget(name, held);
    }
  }

  async function forHashing(owner: KeyOwner): Promise<KeyObject> {
    const known = await load(owner, hashingVersion);
    if (known) return known;
    await once(contextOf(owner, hashingVersion), () => addVersion(owner, hashingVersion));
    const added = await load(owner, hashingVersion);
    if (!added) throw tenantClosed();
    return added;
  }

  return { find, reserve, forHashing };
}

function loaded<V>({ tenantId, purpose }: KeyOwner, value: V): Loaded<V> {
  return { value, tags: [tagOf.dataKeys(tenantId, purpose), tagOf.tenant(tenantId)], sizeBytes: keyBytes };
}

/** Concurrent calls with one name share a result. */
function singleFlight(): <T>(name: string, task: () => Promise<T>) => Promise<T> {
  const underWay = new Map<string, Promise<unknown>>();
  return <T>(name: string, task: () => Promise<T>): Promise<T> => {
    const current = underWay.get(name);
    if (current) return current as Promise<T>;
    const started = task().finally(() => underWay.delete(name));
    underWay.set(name, started);
    return started;
  };
}
