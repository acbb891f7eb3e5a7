import { randomBytes } from 'node:crypto';
import type { KeyOwner, WrappedKey } from './data-key.queries.ts';
import type { KeyWrapper } from './key-wrapper.ts';

export const dataKeyBytes = 32;

/** A wrapped key that is moved to another Tenant, purpose or version does not open. */
export function contextOf({ tenantId, purpose }: KeyOwner, version: number): string {
  return `${tenantId}/${purpose}/${version}`;
}

/** Makes a data key, wrapped. It is not stored yet: no network inside a transaction. */
export async function newDataKey(keyWrapper: KeyWrapper, owner: KeyOwner, version: number): Promise<WrappedKey> {
  const bytes = randomBytes(dataKeyBytes);
  try {
    const { wrapped, keyId } = await keyWrapper.wrap(bytes, contextOf(owner, version));
    return { version, wrapped_key: wrapped, root_key_id: keyId };
  } finally {
    bytes.fill(0);
  }
}
