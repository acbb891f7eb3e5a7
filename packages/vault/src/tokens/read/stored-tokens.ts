import { type AtOnceOrLater, type CacheLimits, type CoherentCaches, type Loaded, tagOf } from '@sluice/cache-coherence';
import { asTenant, type Database } from '@sluice/database';
import { sealedBytes } from '../../encryption/cipher.ts';
import { type FoundToken, findTokens, isLarge } from '../token.queries.ts';
import type { TokenRow } from '../token.ts';
import { isOver } from '../use/purpose.ts';

export interface StoredTokens {
  /** Finds tokens that have not expired, in no order. One query reads those that are not cached. */
  find(tenantId: string, ids: readonly string[]): AtOnceOrLater<FoundToken[]>;
  /** For a token that cannot be decrypted, because a repair in Postgres sends no notice. */
  forget(tenantId: string, id: string): void;
}

/** Caches ciphertexts, never plaintext, and large tokens not at all. */
export function storedTokens(
  { db, caches, clock }: { db: Database; caches: CoherentCaches; clock: () => Date },
  limits: CacheLimits,
): StoredTokens {
  const cache = caches.open<FoundToken>('tokens', limits);
  return {
    find(tenantId, ids) {
      const prefix = `${tenantId}/`;
      const found = cache.getMany(
        ids.map((id) => prefix + id),
        async (missing) => {
          const unread = missing.map((key) => key.slice(prefix.length));
          const rows = await asTenant(tenantId, () => findTokens(db, tenantId, unread));
          return new Map(rows.map((row) => [prefix + row.id, toLoaded(row, clock())]));
        },
      );
      return found instanceof Promise ? found.then((rows) => [...rows.values()]) : [...found.values()];
    },
    forget: (tenantId, id) => cache.drop([tagOf.token(tenantId, id)]),
  };
}

function toLoaded(row: FoundToken, now: Date): Loaded<FoundToken> {
  return {
    value: row,
    tags: [tagOf.token(row.tenant_id, row.id), tagOf.tenant(row.tenant_id)],
    expiresAt: nextEnd(row, now),
    sizeBytes: 1000 + 2 * JSON.stringify([row.containers, row.use]).length + (isLarge(row) ? 0 : largeBytesOf(row)),
  };
}

/**
 * When the token expires or, if earlier, when its `use` or its cvc ends, which a worker deletes without a notice to the
 * caches.
 */
export function nextEnd({ expires_at, cvc_due_at, use }: FoundToken, now: Date): string | null {
  const until = use?.until !== undefined && !isOver(use, now) ? use.until : null;
  return earlier(until, earlier(expires_at, cvc_due_at));
}

function earlier(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return Date.parse(one) < Date.parse(other) ? one : other;
}

function largeBytesOf(row: TokenRow): number {
  return (
    row.data_ciphertext.length +
    (row.cvc_ciphertext?.length ?? 0) +
    sealedBytes({ tenantId: row.tenant_id, recordId: row.id, field: 'tokens.data' }) +
    2 * JSON.stringify([row.metadata, row.mask]).length
  );
}
