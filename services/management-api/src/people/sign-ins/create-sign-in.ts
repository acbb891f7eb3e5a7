import { recordChange } from '@sluice/audit';
import { absent, type RecordedChange, tagOf } from '@sluice/cache-coherence';
import { type Caller, generateSecret, hashKey, notSignedIn } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { Confirmed, giveSignInCookie, Reply } from '@sluice/http-api';
import type { Context } from '../../context.ts';
import { refuseWhatIsGone } from '../../refuse-what-is-gone.ts';
import {
  deleteBySecret,
  deleteSignIn,
  type EndedSignIn,
  endOldest,
  insertSignIn,
  lockPerson,
  type SignedIn,
} from './sign-in.queries.ts';

export interface NewSignIn {
  who: SignedIn;
  /**
   * The cookie that the browser sent. Its sign-in ends, so that a cookie planted by an attacker does not stay valid.
   */
  came?: string | undefined;
  /** Instead of `came`: the existing sign-in of the person. The new one replaces it and ends no later. */
  goesOnFrom?: Caller | undefined;
  traceId: string;
  /** Cache tags that the change drops, besides those of the sign-in itself. */
  tags?: readonly string[];
}

export interface StartedSignIn {
  secret: string;
  /** How long it lasts. */
  seconds: number;
  change: RecordedChange;
}

/**
 * Inserts a sign-in and its audit row. Call it in a transaction, and {@link answerSignIn} after its commit.
 * @throws {ServiceError} `unauthenticated` if the member, the key, the Tenant or the sign-in to replace no longer exists.
 */
export async function createSignIn(
  tx: Queryable,
  { pepper, changes }: Pick<Context, 'pepper' | 'changes'>,
  { who, came, goesOnFrom, traceId, tags = [] }: NewSignIn,
): Promise<StartedSignIn> {
  const secret = generateSecret();
  if ('userId' in who) await lockPerson(tx, who.userId);
  const inserting = insertSignIn(tx, { who, secretHash: hashKey(pepper, secret), endsAt: goesOnFrom?.expiresAt });
  const { id, seconds } = await refuseWhatIsGone(inserting, 'The membership or the key ended during this request');
  const ended = goesOnFrom ? await endOwn(tx, goesOnFrom) : came && (await deleteBySecret(tx, hashKey(pepper, came)));
  const oldest = await endOldest(tx, who);
  await recordSignIn(tx, who, { id, traceId });
  const { tenantId } = who;
  const endedRows = [...oldest.map((each) => ({ tenant_id: tenantId, id: each })), ...(ended ? [ended] : [])];
  const byTenant = tagsByTenant(endedRows);
  byTenant.set(tenantId, [absent, ...tags, ...(byTenant.get(tenantId) ?? [])]);
  return { secret, seconds, change: await changes.recordEach(tx, byTenant) };
}

/**
 * @throws {ServiceError} `unauthenticated` if the sign-in has ended during the request, and so must not be continued.
 */
async function endOwn(tx: Queryable, caller: Caller): Promise<EndedSignIn> {
  const own = ownRow(caller);
  if (await deleteSignIn(tx, own.tenant_id, own.id)) return own;
  throw notSignedIn();
}

export function ownRow({ tenantId, signInId }: Caller): EndedSignIn {
  if (signInId === undefined) throw new Error('This operation takes only the cookie of a sign-in');
  return { tenant_id: tenantId, id: signInId };
}

export function tagsByTenant(ended: readonly EndedSignIn[]): Map<string, string[]> {
  const tags = new Map<string, string[]>();
  for (const { tenant_id, id } of ended) tags.set(tenant_id, [...(tags.get(tenant_id) ?? []), tagOf.signIn(id)]);
  return tags;
}

async function recordSignIn(tx: Queryable, who: SignedIn, { id, traceId }: { id: string; traceId: string }) {
  const [actorType, actorId] =
    'userId' in who ? (['user', who.userId] as const) : (['application', who.applicationId] as const);
  const act = { tenantId: who.tenantId, actorId, actorType, traceId };
  const detail = { sign_in_id: id };
  await recordChange(tx, act, { operation: 'sign_in', entityType: actorType, entityId: actorId, detail });
}

/** Answers 204 with the cookie, once no process accepts the cookie that it replaces. */
export async function answerSignIn(
  changes: Context['changes'],
  { secret, seconds, change }: StartedSignIn,
): Promise<Confirmed> {
  const confirmation = await changes.barrier(change);
  return new Confirmed(confirmation, new Reply(204, undefined, giveSignInCookie(secret, seconds)));
}
