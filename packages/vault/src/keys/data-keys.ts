import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Database } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { LRUCache } from 'lru-cache';
import { IntegrityError } from '../encryption/integrity-error.ts';
import {
  findNewestVersion,
  findWrappedKey,
  insertDataKey,
  type KeyOwner,
  reserveUses,
  type WrappedKey,
} from './data-key.queries.ts';
import type { KeyWrapper } from './key-wrapper.ts';
import { singleFlight } from './single-flight.ts';

/** A data key with the version under which ciphertexts name it. */
export interface DataKey {
  version: number;
  key: KeyObject;
}

/** The data keys of all Tenants: created when first needed, unwrapped once, forgotten after a while. */
export interface DataKeys {
  /** The key that a ciphertext names. @throws {IntegrityError} where there is no such key or it does not unwrap. */
  find(owner: KeyOwner, version: number): Promise<KeyObject>;
  /** The newest key, with this many encryptions counted in the table before they happen. */
  reserve(owner: KeyOwner, uses: number): Promise<DataKey>;
  /** The key of a keyed hash. It has one version: with another, equal values would no longer be equal. */
  forHashing(owner: KeyOwner): Promise<KeyObject>;
}

export interface DataKeysOptions {
  db: Database;
  keyWrapper: KeyWrapper;
  /** How long an unwrapped key stays in memory. */
  timeToLiveMs?: number;
  /** How many unwrapped keys stay in memory. */
  cacheSize?: number;
  /** How many encryptions are counted at once. */
  reservationSize?: number;
  /** Encryptions after which a new version is made: far from the 2^32 that random nonces allow (NIST SP 800-38D). */
  maximumUses?: number;
}

const hashingVersion = 1;

/** Opens the keys. Nothing is read before the first use, and there is nothing to close. */
export function openDataKeys(options: DataKeysOptions): DataKeys {
  const { db, keyWrapper, timeToLiveMs = 60_000, cacheSize = 10_000 } = options;
  const { reservationSize = 1024, maximumUses = 2 ** 28 } = options;
  const unwrapped = new LRUCache<string, KeyObject>({ max: cacheSize, ttl: timeToLiveMs });
  const reservations = new LRUCache<string, { version: number; remaining: number }>({ max: cacheSize });
  const once = singleFlight();

  /** Undefined where the table has no such version. */
  async function load(owner: KeyOwner, version: number): Promise<KeyObject | undefined> {
    const context = contextOf(owner, version);
    const known = unwrapped.get(context);
    if (known) return known;
    return once(context, async () => {
      const row = await findWrappedKey(db, owner, version);
      return row && keep(owner, row);
    });
  }

  async function keep(owner: KeyOwner, row: WrappedKey): Promise<KeyObject> {
    const context = contextOf(owner, row.version);
    const known = unwrapped.get(context);
    if (known) return known;
    const bytes = await unwrap(row, context);
    const key = createSecretKey(bytes);
    bytes.fill(0);
    unwrapped.set(context, key);
    return key;
  }

  async function unwrap(row: WrappedKey, context: string): Promise<Buffer> {
    try {
      return await keyWrapper.unwrap(row.wrapped_key, context);
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause; // a key service that is away
      const other = row.root_key_id === keyWrapper.currentKeyId ? '' : `; it was wrapped by ${row.root_key_id}`;
      throw new IntegrityError(`data key ${context} does not unwrap with ${keyWrapper.currentKeyId}${other}`, {
        cause,
      });
    }
  }

  async function addVersion(owner: KeyOwner, version: number): Promise<void> {
    const bytes = randomBytes(32);
    const wrapped_key = await keyWrapper.wrap(bytes, contextOf(owner, version));
    bytes.fill(0);
    await insertDataKey(db, owner, { version, wrapped_key, root_key_id: keyWrapper.currentKeyId });
  }

  async function reserveInTable(owner: KeyOwner, uses: number): Promise<DataKey> {
    const reserved = await reserveUses(db, owner, { uses, maximumUses });
    if (reserved) return { version: reserved.version, key: await keep(owner, reserved) };
    await addVersion(owner, (await findNewestVersion(db, owner)) + 1);
    const ofNewVersion = await reserveUses(db, owner, { uses, maximumUses });
    if (!ofNewVersion) throw tenantClosed();
    return { version: ofNewVersion.version, key: await keep(owner, ofNewVersion) };
  }

  async function find(owner: KeyOwner, version: number): Promise<KeyObject> {
    const key = await load(owner, version);
    if (!key) throw new IntegrityError(`data key ${contextOf(owner, version)} does not exist`);
    return key;
  }

  async function reserve(owner: KeyOwner, uses: number): Promise<DataKey> {
    if (uses >= reservationSize) return reserveInTable(owner, uses);
    const name = `${owner.tenantId}/${owner.purpose}`;
    for (;;) {
      const held = reservations.get(name);
      if (held && held.remaining >= uses) {
        held.remaining -= uses;
        return { version: held.version, key: await find(owner, held.version) };
      }
      await once(`reserve ${name}`, async () => {
        const { version } = await reserveInTable(owner, reservationSize);
        reservations.set(name, { version, remaining: reservationSize });
      });
    }
  }

  async function forHashing(owner: KeyOwner): Promise<KeyObject> {
    const known = await load(owner, hashingVersion);
    if (known) return known;
    await addVersion(owner, hashingVersion);
    const added = await load(owner, hashingVersion);
    if (!added) throw tenantClosed();
    return added;
  }

  return { find, reserve, forHashing };
}

/** A wrapped key that is moved to another Tenant, purpose or version does not open. */
function contextOf({ tenantId, purpose }: KeyOwner, version: number): string {
  return `${tenantId}/${purpose}/${version}`;
}

/** Keys are only ever refused to a Tenant that is closed; its API keys are refused as well. */
function tenantClosed(): ServiceError {
  return new ServiceError('unauthenticated', 'The Tenant of this key is closed');
}
