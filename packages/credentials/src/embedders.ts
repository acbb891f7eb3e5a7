import { type CacheLimits, type CoherentCaches, tagOf } from '@sluice/cache-coherence';
import { prepared, type Queryable } from '@sluice/database';
import { notExpired } from './find-caller.ts';

interface Embedders {
  origins: readonly string[];
}

/**
 * The origins whose pages may embed the fields of a public Application, by its id alone, because frames are requested
 * without a key. Empty for an Application without `allowed_origins`, and for one that is unknown, of another type,
 * expired or deleted.
 */
export function cacheEmbedders(db: Queryable, caches: CoherentCaches, limits: CacheLimits) {
  const cache = caches.open<Embedders>('embedders', { ...limits, remembersAbsent: true });
  return async (applicationId: string): Promise<readonly string[]> => {
    const found = await cache.get(applicationId, async () => {
      const [row] = await selectById(db, applicationId);
      if (!row) return undefined;
      const { tenant_id, expires_at: expiresAt, allowed_origins } = row;
      const value = { origins: allowed_origins ?? [] };
      const tags = [tagOf.application(applicationId), tagOf.tenant(tenant_id)];
      return { value, tags, expiresAt, sizeBytes: 200 + 2 * value.origins.join(' ').length };
    });
    return found?.origins ?? [];
  };
}

const selectById = prepared('embedders_by_application', (db, id: string) =>
  db
    .selectFrom('applications')
    .innerJoin('tenants', 'tenants.id', 'applications.tenant_id')
    .select(['applications.tenant_id', 'applications.allowed_origins', 'applications.expires_at'])
    .where('applications.id', '=', id)
    .where('applications.type', '=', 'public')
    .where('tenants.closed_at', 'is', null)
    .where(notExpired),
);
