import { type AtOnceOrLater, type CacheLimits, type CoherentCaches, type Loaded, tagOf } from '@sluice/cache-coherence';
import type { Database } from '@sluice/database';
import { sealedBytes } from '../../encryption/cipher.ts';
import { findTokenRows } from '../token.queries.ts';
import type { TokenRow } from '../token.ts';

/** Tokens as they are stored, their data encrypted: what is in memory of them, and the rest from Postgres. */
export interface StoredTokens {
  /** Those of the ids that exist and have not expired, in no order. One query for all that is not in memory. */
  find(tenantId: string, ids: readonly string[]): AtOnceOrLater<TokenRow[]>;
  /** Drops one from memory: what does not open may have been put right in Postgres, and nobody would say so. */
  forget(tenantId: string, id: string): void;
}

/** Opens the cache of tokens. It holds ciphertexts, and never what is in them. */
export function openStoredTokens(db: Database, caches: CoherentCaches, limits: CacheLimits): StoredTokens {
  const cache = caches.open<TokenRow>('tokens', limits);
  return {
    find(tenantId, ids) {
      const prefix = `${tenantId}/`;
      const found = cache.getMany(
        ids.map((id) => prefix + id),
        async (missing) => {
          const rows = await findTokenRows(
            db,
            tenantId,
            missing.map((key) => key.slice(prefix.length)),
          );
          return new Map(rows.map((row) => [prefix + row.id, toLoaded(row)]));
        },
      );
      return found instanceof Promise ? found.then((rows) => [...rows.values()]) : [...found.values()];
    },
    forget: (tenantId, id) => cache.drop([tagOf.token(tenantId, id)]),
  };
}

function toLoaded(row: TokenRow): Loaded<TokenRow> {
  return {
    value: row,
    tags: [tagOf.token(row.tenant_id, row.id), tagOf.tenant(row.tenant_id)],
    expiresAt: row.expires_at,
    sizeBytes:
      1000 +
      row.data_ciphertext.length +
      (row.cvc_ciphertext?.length ?? 0) +
      sealedBytes({ tenantId: row.tenant_id, recordId: row.id, field: 'tokens.data' }) +
      2 * JSON.stringify([row.metadata, row.mask, row.containers]).length,
  };
}
