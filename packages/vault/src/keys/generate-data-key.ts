import { randomBytes } from 'node:crypto';
import type { KeyOwner, WrappedKey } from './data-key.queries.ts';
import type { KeyWrapper } from './key-wrapper.ts';

export const dataKeyBytes = 32;

/** Binds a wrapped key to its place, so that it cannot be unwrapped elsewhere. */
export function contextOf({ tenantId, purpose }: KeyOwner, version: number): string {
  return `${tenantId}/${purpose}/${version}`;
}

/** Does not store it, because a transaction must not wait for a key service. */
export async function generateDataKey(keyWrapper: KeyWrapper, owner: KeyOwner, version: number): Promise<WrappedKey> {
  const bytes = randomBytes(dataKeyBytes);
  try {
    const { wrapped, keyId } = await keyWrapper.wrap(bytes, contextOf(owner, version));
    return { version, wrapped_key: wrapped, root_key_id: keyId };
  } finally {
    bytes.fill(0);
  }
}
