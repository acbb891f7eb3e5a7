import { type AtOnceOrLater, type CacheLimits, type CoherentCaches, type Loaded, tagOf } from '@sluice/cache-coherence';
import type { Queryable } from '@sluice/database';
import { bytesOf } from './api-key.ts';
import { type Caller, type FoundCaller, findCaller, findCallerById } from './find-caller.ts';
import { type FoundSession, findSession } from './find-session.ts';

/** Undefined for what is unknown, expired, or deleted. */
export interface Callers {
  byKeyHash(hashText: string): AtOnceOrLater<Caller | undefined>;
  bySessionKeyHash(hashText: string): AtOnceOrLater<Caller | undefined>;
  /** For work that acts as an Application without its key. */
  byId(tenantId: string, id: string): AtOnceOrLater<Caller | undefined>;
}

/** Calls `onChange` when the caller may have lost a right. @returns a function that stops watching. */
export function watchCaller(caches: CoherentCaches, caller: Caller, onChange: () => void): () => void {
  const { id, tenantId, type, applicationId } = caller;
  const own = type === 'session' ? tagOf.session(id) : tagOf.application(id);
  const tags = [
    own,
    tagOf.tenant(tenantId),
    ...(applicationId === undefined ? [] : [tagOf.application(applicationId)]),
  ];
  return caches.watch(tags, onChange);
}

export function readCallers(db: Queryable): Callers {
  return {
    byKeyHash: async (hashText) => toCaller(await findCaller(db, bytesOf(hashText))),
    bySessionKeyHash: async (hashText) => toCaller(await findSession(db, bytesOf(hashText))),
    byId: async (tenantId, id) => toCaller(await findCallerById(db, tenantId, id)),
  };
}

/** Remembers unknown keys too, so that junk costs no further look-up. */
export function cacheCallers(db: Queryable, caches: CoherentCaches, limits: CacheLimits): Callers {
  const cache = caches.open<Caller>('callers', { ...limits, remembersAbsent: true });
  return {
    byKeyHash: (hashText) => cache.get(hashText, () => loadApplication(db, hashText)),
    bySessionKeyHash: (hashText) => cache.get(hashText, () => loadSession(db, hashText)),
    byId: (tenantId, id) =>
      cache.get(`${tenantId}/${id}`, async () => toLoaded(await findCallerById(db, tenantId, id))),
  };
}

async function loadApplication(db: Queryable, hashText: string): Promise<Loaded<Caller> | undefined> {
  return toLoaded(await findCaller(db, bytesOf(hashText)));
}

/** Both Applications tag a session: its authorizer because of the rights, and its maker because it ends with either. */
async function loadSession(db: Queryable, hashText: string): Promise<Loaded<Caller> | undefined> {
  const found = await findSession(db, bytesOf(hashText));
  if (!found) return undefined;
  const { madeBy, ...session } = found;
  const applications = [madeBy, session.applicationId ?? madeBy];
  return toLoaded(session, [tagOf.session(session.id), ...applications.map(tagOf.application)]);
}

function toCaller(found: (FoundCaller & Partial<FoundSession>) | undefined): Caller | undefined {
  if (!found) return undefined;
  const { expires_at: _, madeBy: __, ...caller } = found;
  return caller;
}

/** Writes the caller as JSON, to know its size. That takes long for many rules, so only what is cached comes here. */
function toLoaded(
  found: FoundCaller | undefined,
  tags = found && [tagOf.application(found.id)],
): Loaded<Caller> | undefined {
  if (!found || !tags) return undefined;
  const { expires_at: expiresAt, ...value } = found;
  return {
    value,
    tags: [...tags, tagOf.tenant(value.tenantId)],
    expiresAt,
    sizeBytes: 500 + 4 * JSON.stringify(value).length,
  };
}
