import { type AtOnceOrLater, type CacheLimits, type CoherentCaches, type Loaded, tagOf } from '@sluice/cache-coherence';
import { asTenant, type Database } from '@sluice/database';
import { sealedBytes } from '../../encryption/cipher.ts';
import { type FoundToken, findTokens, isLarge } from '../token.queries.ts';
import type { TokenRow } from '../token.ts';

export interface StoredTokens {
  /** Finds tokens that have not expired, in no order. One query reads those that are not cached. */
  find(tenantId: string, ids: readonly string[]): AtOnceOrLater<FoundToken[]>;
  /** For a token that cannot be decrypted, because a repair in Postgres sends no notice. */
  forget(tenantId: string, id: string): void;
}

/** Caches ciphertexts, never plaintext, and large tokens not at all. */
export function storedTokens(db: Database, caches: CoherentCaches, limits: CacheLimits): StoredTokens {
  const cache = caches.open<FoundToken>('tokens', limits);
  return {
    find(tenantId, ids) {
      const prefix = `${tenantId}/`;
      const found = cache.getMany(
        ids.map((id) => prefix + id),
        async (missing) => {
          const unread = missing.map((key) => key.slice(prefix.length));
          const rows = await asTenant(tenantId, () => findTokens(db, tenantId, unread));
          return new Map(rows.map((row) => [prefix + row.id, toLoaded(row)]));
        },
      );
      return found instanceof Promise ? found.then((rows) => [...rows.values()]) : [...found.values()];
    },
    forget: (tenantId, id) => cache.drop([tagOf.token(tenantId, id)]),
  };
}

function toLoaded(row: FoundToken): Loaded<FoundToken> {
  return {
    value: row,
    tags: [tagOf.token(row.tenant_id, row.id), tagOf.tenant(row.tenant_id)],
    expiresAt: nextEnd(row),
    sizeBytes: 1000 + 2 * JSON.stringify(row.containers).length + (isLarge(row) ? 0 : largeBytesOf(row)),
  };
}

/** When the token expires or, if earlier, its cvc, which a worker deletes without a notice to the caches. */
export function nextEnd({ expires_at, cvc_due_at }: FoundToken): string | null {
  if (expires_at === null || cvc_due_at === null) return expires_at ?? cvc_due_at;
  return Date.parse(cvc_due_at) < Date.parse(expires_at) ? cvc_due_at : expires_at;
}

function largeBytesOf(row: TokenRow): number {
  return (
    row.data_ciphertext.length +
    (row.cvc_ciphertext?.length ?? 0) +
    sealedBytes({ tenantId: row.tenant_id, recordId: row.id, field: 'tokens.data' }) +
    2 * JSON.stringify([row.metadata, row.mask]).length
  );
}
