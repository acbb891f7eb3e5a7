import type { KeyObject } from 'node:crypto';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { sql } from 'kysely';
import { hashKeyText, isWellFormedSecret } from './api-key.ts';
import { type Callers, readCallers } from './callers.ts';
import type { Caller } from './find-caller.ts';

const noteEveryMs = 60_000;
const mostNoted = 10_000;

/** The same error for every refused cookie. */
export function notSignedIn(): ServiceError {
  return new ServiceError('unauthenticated', 'You are not signed in');
}

/** @throws {ServiceError} `unauthenticated` if the cookie is missing or unknown, or its sign-in, member or key has ended. */
export async function authenticateSignIn(
  secret: string | undefined,
  { callers, pepper }: { callers: Callers; pepper: KeyObject },
): Promise<Caller> {
  if (secret === undefined || !isWellFormedSecret(secret)) throw notSignedIn();
  const caller = await callers.bySignInHash(hashKeyText(pepper, secret));
  if (!caller) throw notSignedIn();
  return caller;
}

export interface SignInAuthenticationOptions {
  db: Queryable;
  callers: Callers;
  pepper: KeyObject;
  log: { debug(fields: object, message: string): void };
}

/**
 * {@link authenticateSignIn}, without caches if `tx` is given. Also records, once a minute and in the background, that the
 * sign-in is in use.
 */
export function signInAuthentication({ db, callers, pepper, log }: SignInAuthenticationOptions) {
  const noted = new Map<string, number>();

  function note({ tenantId, signInId = '' }: Caller): void {
    const now = performance.now();
    if (now - (noted.get(signInId) ?? Number.NEGATIVE_INFINITY) < noteEveryMs) return;
    if (noted.size >= mostNoted) noted.clear();
    noted.set(signInId, now);
    noteUse(db, tenantId, signInId).catch((err: unknown) => log.debug({ err }, 'the use of a sign-in was not noted'));
  }

  return async (secret: string | undefined, tx?: Queryable): Promise<Caller> => {
    const caller = await authenticateSignIn(secret, { callers: tx ? readCallers(tx) : callers, pepper });
    if (!tx) note(caller);
    return caller;
  };
}

/** To the minute, so that most requests write nothing. */
async function noteUse(db: Queryable, tenantId: string, id: string): Promise<void> {
  await db
    .updateTable('sign_ins')
    .set({ last_used_at: sql<string>`clock_timestamp()` })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where(sql<boolean>`last_used_at < clock_timestamp() - interval '1 minute'`)
    .execute();
}
