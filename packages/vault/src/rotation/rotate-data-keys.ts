import { recordChange, systemAct } from '@sluice/audit';
import { type Confirmation, type RecordedChange, tagOf } from '@sluice/cache-coherence';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { insertDataKey, isTenantClosed, type WrappedKey } from '../keys/data-key.queries.ts';
import { generateDataKey } from '../keys/generate-data-key.ts';
import { countByVersion } from './encrypted-rows.queries.ts';
import { encryptedTables } from './encrypted-rows.ts';
import { type KeyVersion, listKeyVersions } from './key-versions.queries.ts';
import { type Reencrypted, reencrypt } from './reencrypt.ts';
import type { RotatedPurpose } from './rotated-purposes.ts';
import type { Rotation } from './rotation.ts';

export interface DataKeyRotation {
  tenantId: string;
  purposes: readonly RotatedPurpose[];
  /** The longest time from the preparation of a write to its end. */
  settleMs?: number;
}

/** The time limits of a statement and of getting a connection, with a reserve. */
const longestWriteMs = 12_000;

/**
 * Creates new versions, or continues with them after an interruption, and encrypts anew what is under older ones. Old
 * versions stay, because requests may still need them. Rows that cannot be decrypted are skipped, and do not prevent
 * later rotations. @returns the tables of these purposes; `left` is 0 on success.
 * @throws {ServiceError} `not_found` for a missing or closed Tenant; `unavailable` without the key service.
 * @throws {DataKeyError} before it creates a new version, if rows are under a key that is missing or cannot be
 * unwrapped.
 */
export async function rotateDataKeys(rotation: Rotation, work: DataKeyRotation): Promise<Reencrypted[]> {
  const { tenantId, purposes } = work;
  if (await isTenantClosed(rotation.db, tenantId)) {
    throw new ServiceError('not_found', `There is no Tenant ${tenantId}, or it is closed`);
  }
  if (await unwrapKeysOfRows(rotation, tenantId, await findNewest(rotation.db, tenantId, purposes))) {
    const resumed = await rotateOnce(rotation, work, { isNew: false });
    const isOnlyDamage = resumed.every(({ rows, left, damagedRows }) => rows === 0 && left === damagedRows);
    if (!isOnlyDamage) return resumed;
  }
  return rotateOnce(rotation, work, { isNew: true });
}

async function rotateOnce(
  rotation: Rotation,
  { tenantId, purposes, settleMs = longestWriteMs }: DataKeyRotation,
  { isNew }: { isNew: boolean },
): Promise<Reencrypted[]> {
  const newest = await findNewest(rotation.db, tenantId, purposes);
  const confirmation = await announce(rotation, tenantId, { newest, isNew });
  const settledAt = performance.now() + settleMs;
  const current = isNew ? await findNewest(rotation.db, tenantId, purposes) : newest;
  const versions = current.map(({ purpose, version, created_at }) => ({ purpose, version, createdAt: created_at }));
  rotation.report({ type: 'versions', resumed: !isNew, versions, confirmation });
  const done: Reencrypted[] = [];
  for (const { purpose, version } of current) {
    for (const table of encryptedTables(purpose)) {
      done.push(await reencrypt(rotation, { tenantId, purpose, version, table, settledAt }));
    }
  }
  return done;
}

async function findNewest(db: Queryable, tenantId: string, purposes: readonly RotatedPurpose[]): Promise<KeyVersion[]> {
  const versions = await listKeyVersions(db, tenantId);
  return purposes.flatMap((purpose) => versions.find((version) => version.purpose === purpose) ?? []);
}

/** @returns whether rows are under older versions. @throws {DataKeyError} */
async function unwrapKeysOfRows(
  { countingDb, dataKeys }: Rotation,
  tenantId: string,
  newest: KeyVersion[],
): Promise<boolean> {
  let areOlder = false;
  for (const { purpose, version } of newest) {
    const named = [...(await countByVersion(countingDb, encryptedTables(purpose), tenantId)).keys()];
    // Only damaged rows name versions that were never made.
    const used = new Set([version, ...named.filter((each) => each > 0 && each < version)]);
    for (const each of used) await dataKeys.find({ tenantId, purpose }, each);
    if (named.some((each) => each < version)) areOlder = true;
  }
  return areOlder;
}

/**
 * Stores new versions if `isNew`, and makes every process drop its cached keys, so that none encrypts with an old one.
 */
async function announce(
  { db, keyWrapper, changes }: Rotation,
  tenantId: string,
  { newest, isNew }: { newest: KeyVersion[]; isNew: boolean },
): Promise<Confirmation> {
  const made: { purpose: KeyVersion['purpose']; key: WrappedKey }[] = [];
  for (const { purpose, version } of isNew ? newest : []) {
    made.push({ purpose, key: await generateDataKey(keyWrapper, { tenantId, purpose }, version + 1) });
  }
  const change = await db.transaction().execute(async (tx): Promise<RecordedChange> => {
    for (const { purpose, key } of made) await insertDataKey(tx, { tenantId, purpose }, key);
    if (made.length > 0) {
      const detail = { versions: Object.fromEntries(made.map(({ purpose, key }) => [purpose, key.version])) };
      await recordChange(tx, systemAct(tenantId), {
        operation: 'update',
        entityType: 'tenant',
        entityId: tenantId,
        message: 'Data keys of the Tenant rotated',
        detail,
      });
    }
    return changes.record(
      tx,
      tenantId,
      newest.map(({ purpose }) => tagOf.dataKeys(tenantId, purpose)),
    );
  });
  return changes.barrier(change);
}
