import { type AtOnceOrLater, type CacheLimits, type CoherentCaches, type Loaded, tagOf } from '@sluice/cache-coherence';
import { asTenant, type Queryable } from '@sluice/database';
import { bytesOf } from './api-key.ts';
import { type Caller, type FoundCaller, findCaller, findCallerById } from './find-caller.ts';
import { type FoundSession, findSession, findSessionById } from './find-session.ts';
import { type FoundSignIn, findSignIn } from './find-sign-in.ts';

/** Returns undefined for a caller that is unknown, expired, or deleted. */
export interface Callers {
  byKeyHash(hashText: string): AtOnceOrLater<Caller | undefined>;
  bySessionKeyHash(hashText: string): AtOnceOrLater<Caller | undefined>;
  /** The hash is that of a cookie. */
  bySignInHash(hashText: string): AtOnceOrLater<Caller | undefined>;
  /** For work that acts as an Application without its key. */
  byId(tenantId: string, id: string): Promise<Caller | undefined>;
  /** For work that acts as a session without its key. */
  bySessionId(tenantId: string, id: string): Promise<Caller | undefined>;
}

/** Calls `onChange` when the caller may have lost a right. @returns a function that stops watching. */
export function watchCaller(caches: CoherentCaches, caller: Caller, onChange: () => void): () => void {
  const { tenantId, applicationId, signInId } = caller;
  const tags = [
    ownTag(caller),
    tagOf.tenant(tenantId),
    ...(applicationId === undefined ? [] : [tagOf.application(applicationId)]),
    ...(signInId === undefined ? [] : [tagOf.signIn(signInId)]),
  ];
  return caches.watch(tags, onChange);
}

function ownTag({ id, type }: Pick<Caller, 'id' | 'type'>): string {
  if (type === 'session') return tagOf.session(id);
  return type === 'user' ? tagOf.user(id) : tagOf.application(id);
}

export function readCallers(db: Queryable): Callers {
  // Separate, because many sessions must not displace the keys of Applications
  const [ofKey, ofSession, ofSignIn] = [inTurnsOfTenant(), inTurnsOfTenant(), inTurnsOfTenant()];
  return {
    byKeyHash: async (hashText) => toCaller(await ofKey(hashText, () => findCaller(db, bytesOf(hashText)))),
    bySessionKeyHash: async (hashText) => toCaller(await ofSession(hashText, () => findSession(db, bytesOf(hashText)))),
    bySignInHash: async (hashText) => toCaller(await ofSignIn(hashText, () => findSignIn(db, bytesOf(hashText)))),
    byId: async (tenantId, id) => toCaller(await findCallerById(db, tenantId, id)),
    bySessionId: async (tenantId, id) => toCaller(await findSessionById(db, tenantId, id)),
  };
}

/** Caches unknown keys too, so that invalid keys cost no further look-up. */
export function cacheCallers(db: Queryable, caches: CoherentCaches, limits: CacheLimits): Callers {
  const cache = caches.open<Caller>('callers', { ...limits, remembersAbsent: true });
  const [ofKey, ofSession, ofSignIn] = [inTurnsOfTenant(), inTurnsOfTenant(), inTurnsOfTenant()];
  return {
    byKeyHash: (hashText) =>
      cache.get(hashText, async () => toLoaded(await ofKey(hashText, () => findCaller(db, bytesOf(hashText))))),
    bySessionKeyHash: (hashText) =>
      cache.get(hashText, async () =>
        sessionLoaded(await ofSession(hashText, () => findSession(db, bytesOf(hashText)))),
      ),
    bySignInHash: (hashText) =>
      cache.get(hashText, async () => signInLoaded(await ofSignIn(hashText, () => findSignIn(db, bytesOf(hashText))))),
    byId: async (tenantId, id) =>
      cache.get(`${tenantId}/${id}`, async () =>
        toLoaded(await asTenant(tenantId, () => findCallerById(db, tenantId, id))),
      ),
    bySessionId: async (tenantId, id) =>
      cache.get(`${tenantId}/session/${id}`, async () =>
        sessionLoaded(await asTenant(tenantId, () => findSessionById(db, tenantId, id))),
      ),
  };
}

const mostKeys = 10_000;

type FindInTurns = <F extends FoundCaller>(
  hashText: string,
  find: () => Promise<F | undefined>,
) => Promise<F | undefined>;

/**
 * A key that was found before is looked up in its Tenant's own queue for Postgres. If all look-ups shared a queue, one
 * Tenant's flood would delay every other Tenant. The known Tenant only selects the queue.
 */
function inTurnsOfTenant(): FindInTurns {
  const tenants = new Map<string, string>();
  return async (hashText, find) => {
    const known = tenants.get(hashText);
    const found = await (known === undefined ? find() : asTenant(known, find));
    if (!found) return undefined;
    tenants.delete(hashText);
    tenants.set(hashText, found.tenantId);
    const [oldest] = tenants.keys();
    if (oldest !== undefined && tenants.size > mostKeys) tenants.delete(oldest);
    return found;
  };
}

/**
 * Both Applications tag a session: its authorizer because of the rights, and its creator because the session ends with
 * either.
 */
function sessionLoaded(found: FoundSession | undefined): Loaded<Caller> | undefined {
  if (!found) return undefined;
  const applications = [found.madeBy, found.applicationId ?? found.madeBy];
  return toLoaded(found, [tagOf.session(found.id), ...applications.map(tagOf.application)]);
}

function signInLoaded(found: FoundSignIn | undefined): Loaded<Caller> | undefined {
  return found && toLoaded(found, [tagOf.signIn(found.signInId), ownTag(found)]);
}

function toCaller(found: FoundCaller | undefined): Caller | undefined {
  return found && asCaller(found);
}

function asCaller({ expires_at: expiresAt, allowed_origins: allowedOrigins, ...caller }: FoundCaller): Caller {
  return { ...caller, ...(expiresAt !== null && { expiresAt }), ...(allowedOrigins && { allowedOrigins }) };
}

/**
 * Writes the caller as JSON to find its size. That takes long for many rules, so it is done only for cached callers.
 */
function toLoaded(
  found: FoundCaller | undefined,
  tags = found && [tagOf.application(found.id)],
): Loaded<Caller> | undefined {
  if (!found || !tags) return undefined;
  const value = asCaller(found);
  return {
    value,
    tags: [...tags, tagOf.tenant(value.tenantId)],
    expiresAt: found.expires_at,
    sizeBytes: 500 + 4 * JSON.stringify(value).length,
  };
}
