import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '@sluice/problems';
import { contextOf } from '../keys/generate-data-key.ts';
import type { KeyWrapper } from '../keys/key-wrapper.ts';
import { countByRootKey, type RootKeyUse } from './key-versions.queries.ts';
import {
  type DataKeyPlace,
  firstPlace,
  type PagedDataKey,
  type Rewrapped,
  readDataKeyPage,
  replaceWrappedKeys,
} from './root-key.queries.ts';
import type { Rotation } from './rotation.ts';

export interface RootRotation {
  currentKeyId: string;
  rewrapped: number;
  left: RootKeyUse[];
  damaged: string[];
}

const atOnce = 10;
const mostPasses = 20;
const pauseMs = 200;

/**
 * Changes no ciphertext, so caches stay valid. Keys that cannot be unwrapped stay. @throws {ServiceError}
 * `unavailable`.
 */
export async function rotateRootKey(rotation: Omit<Rotation, 'dataKeys' | 'changes'>): Promise<RootRotation> {
  let rewrapped = 0;
  let total: number | undefined;
  for (let pass = 1; ; pass++) {
    const currentKeyId = await rotation.keyWrapper.currentKeyId();
    const left = (await countByRootKey(rotation.countingDb)).filter(({ root_key_id }) => root_key_id !== currentKeyId);
    const rows = left.reduce((sum, { data_keys }) => sum + data_keys, 0);
    total ??= rows;
    if (rows === 0) return { currentKeyId, rewrapped, left, damaged: [] };
    const before = rewrapped;
    const damage = await walk(rotation, currentKeyId, (count) => {
      rewrapped += count;
      const done = { done: rewrapped, total: Math.max(total ?? 0, rewrapped) };
      rotation.report({ type: 'progress', what: 'data keys', ...done });
    });
    const isFruitless = rewrapped === before && (damage.rows >= rows || pass >= mostPasses);
    if (isFruitless) return { currentKeyId, rewrapped, left, damaged: damage.names };
    if (rewrapped === before) await delay(pauseMs); // the remaining keys are locked
  }
}

async function walk(
  { db, keyWrapper, signal }: Pick<Rotation, 'db' | 'keyWrapper' | 'signal'>,
  currentKeyId: string,
  onReplaced: (rows: number) => void,
) {
  const damage = { rows: 0, names: [] as string[] };
  let after: DataKeyPlace | undefined = firstPlace;
  while (after) {
    signal.throwIfAborted();
    const page: PagedDataKey[] = await readDataKeyPage(db, { currentKeyId, after });
    const due = page.filter((key) => key.wrapped_key !== null);
    const keys: Rewrapped[] = [];
    for (let i = 0; i < due.length; i += atOnce) {
      const outcomes = await Promise.all(due.slice(i, i + atOnce).map((key) => rewrap(keyWrapper, key)));
      for (const outcome of outcomes) {
        if (typeof outcome === 'object') keys.push(outcome);
        else if (damage.names.length < 10) damage.names.push(outcome);
      }
    }
    damage.rows += due.length - keys.length;
    if (keys.length > 0) onReplaced(await replaceWrappedKeys(db, keys));
    after = page.at(-1);
  }
  return damage;
}

/** A string result names a key that cannot be unwrapped. */
async function rewrap(keyWrapper: KeyWrapper, key: PagedDataKey): Promise<Rewrapped | string> {
  const { tenant_id, purpose, version, wrapped_key, root_key_id } = key;
  const context = contextOf({ tenantId: tenant_id, purpose }, version);
  const oldWrappedKey = wrapped_key ?? Buffer.alloc(0);
  let bytes: Buffer;
  try {
    bytes = await keyWrapper.unwrap(oldWrappedKey, { context, keyId: root_key_id });
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    return `${context} (${root_key_id})`;
  }
  try {
    const { wrapped, keyId } = await keyWrapper.wrap(bytes, context);
    return { tenant_id, purpose, version, oldWrappedKey, wrapped_key: wrapped, root_key_id: keyId };
  } finally {
    bytes.fill(0);
  }
}
