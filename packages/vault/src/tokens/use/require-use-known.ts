import { requireEveryLeaseKnows } from '@sluice/cache-coherence';
import type { Queryable } from '@sluice/database';
import type { TokenUse } from './token-use.ts';

/**
 * Call in the transaction that stores `use`. No query if it stays or is removed. @throws {ServiceError} `unavailable` while
 * a process of a version that would ignore it still runs.
 */
export function requireUseKnown(tx: Queryable, stored: TokenUse | null, wanted: TokenUse | null): Promise<void> {
  return requireEveryLeaseKnows(tx, [{ member: 'use', stored, wanted, since: '0083-uses-of-tokens' }]);
}
