import { type AtOnceOrLater, type CacheLimits, type CoherentCaches, type Loaded, tagOf } from '@sluice/cache-coherence';
import type { Queryable } from '@sluice/database';
import { bytesOf } from './api-key.ts';
import { type Caller, type FoundCaller, findCaller, findCallerById } from './find-caller.ts';

/** Where a service finds who acts. Undefined for what is unknown, expired, or deleted. */
export interface Callers {
  /** By what `hashKeyText` makes of the key. */
  byKeyHash(hashText: string): AtOnceOrLater<Caller | undefined>;
  /** For what acts as an Application without presenting its key. */
  byId(tenantId: string, id: string): AtOnceOrLater<Caller | undefined>;
}

/** Callers as Postgres knows them at each look-up. */
export function readCallers(db: Queryable): Callers {
  return {
    byKeyHash: async (hashText) => callerOf(await findCaller(db, bytesOf(hashText))),
    byId: async (tenantId, id) => callerOf(await findCallerById(db, tenantId, id)),
  };
}

/** The same from a coherent cache. Keys that lead to nobody are remembered as well, so that junk is not looked up. */
export function cacheCallers(db: Queryable, caches: CoherentCaches, limits: CacheLimits): Callers {
  const cache = caches.open<Caller>('callers', { ...limits, remembersAbsent: true });
  return {
    byKeyHash: (hashText) => cache.get(hashText, async () => toLoaded(await findCaller(db, bytesOf(hashText)))),
    byId: (tenantId, id) =>
      cache.get(`${tenantId}/${id}`, async () => toLoaded(await findCallerById(db, tenantId, id))),
  };
}

function callerOf(found: FoundCaller | undefined): Caller | undefined {
  if (!found) return undefined;
  const { expires_at: _, ...caller } = found;
  return caller;
}

function toLoaded(found: FoundCaller | undefined): Loaded<Caller> | undefined {
  const value = callerOf(found);
  if (!found || !value) return undefined;
  return {
    value,
    tags: [tagOf.application(value.id), tagOf.tenant(value.tenantId)],
    expiresAt: found.expires_at,
    sizeBytes: 500 + 4 * JSON.stringify(value).length,
  };
}
