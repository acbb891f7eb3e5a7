import { recordChange } from '@sluice/audit';
import { tagOf } from '@sluice/cache-coherence';
import { type Caller, hashKey, isWellFormedSecret } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { Reply, readSignInCookie } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { sql } from 'kysely';
import { anonymousOperation, type Context } from '../../context.ts';
import { withIdentity } from '../issuers/with-identity.ts';
import { findGivers, mayStillInvite } from '../members/find-givers.ts';
import { answerSignIn, createSignIn, type StartedSignIn } from '../sign-ins/create-sign-in.ts';
import { findUser } from '../sign-ins/sign-in.queries.ts';
import { unlessRefused } from '../sign-ins/unless-refused.ts';
import { createMember, type NewMember } from './create-member.ts';
import { type TakenInvitation, takeInvitation } from './invitation.queries.ts';
import { acceptInvitationBody } from './invitation.schema.ts';
import { isOwnMembership, takeOver } from './take-over.ts';

export const acceptInvitation = anonymousOperation({
  id: 'acceptInvitation',
  tag: 'Signing in',
  summary: 'Accept an invitation, and sign in to its Tenant',
  description: `Sign in with an identity provider of the installation first. Otherwise the response is 401. If the installation has no identity provider and \`CONSOLE_LINK_SIGN_IN\` is true, the link is enough.

Your e-mail address must be the address of the invitation, and whoever created the link must still be allowed to give the role. Otherwise the response is 403.

If the invitation has a \`member_id\`, you take over that membership. It must still exist with the same role. Otherwise the response is 403. The person who had it before is signed out of the Tenant everywhere before the response is sent.`,
  method: 'post',
  path: '/invitations/accept',
  body: acceptInvitationBody,
  response: { 204: null },
  errors: ['unauthenticated', 'forbidden', 'conflict', 'too_many_requests'],
  async handle({ body: { token }, request, traceId, address }, context) {
    const { db, changes, pepper, callers, issuers, linkSignIn, failedSignIns } = context;
    await failedSignIns.refuseMany(address());
    const came = readSignInCookie(request);
    const signedIn =
      came === undefined ? undefined : await callers.bySignInHash(hashKey(pepper, came).toString('latin1'));
    const person = signedIn?.type === 'user' ? signedIn : undefined;
    const bySecretAlone = linkSignIn && issuers.size === 0;
    // Refused before any look-up, so that the answer reveals nothing about the token.
    if (!bySecretAlone && !(await isKnown(context, person))) {
      throw new ServiceError('unauthenticated', 'Sign in with an identity provider first. Then accept the invitation');
    }
    const starting = db.transaction().execute(async (tx) => {
      const invitation = isWellFormedSecret(token) ? await takeInvitation(tx, hashKey(pepper, token)) : undefined;
      if (!invitation) return undefined;
      const userId = await whoAccepts(tx, { invitation, person, bySecretAlone });
      const goesOnFrom = person && person.id === userId ? person : undefined;
      if (goesOnFrom?.tenantId === invitation.tenant_id && (await isOwnMembership(tx, invitation, userId))) {
        await recordAccepted(tx, { invitation, userId, traceId });
        return 'unchanged';
      }
      return joinTenant(tx, context, { invitation, userId, came, goesOnFrom, traceId });
    });
    const started = await unlessRefused(starting);
    if (!started) throw await failedSignIns.refusal(address());
    if (started === 'unchanged') return new Reply(204, undefined);
    return answerSignIn(changes, started);
  },
});

/** Whether the person may accept: where issuers are set, only one whom they know. */
async function isKnown({ db, issuers }: Context, person: Caller | undefined): Promise<boolean> {
  if (!person) return false;
  return issuers.size === 0 || (await withIdentity(db, issuers, [person.id])).has(person.id);
}

interface Accepting {
  invitation: TakenInvitation;
  person: Caller | undefined;
  /** Whether the link is enough: link sign-in is on, and no issuer is set. */
  bySecretAlone: boolean;
}

/**
 * Where the link alone is enough, it creates a new person unless the invitation names one. If it signed in the
 * existing person with this address, anybody who may invite could invite the address, use the link, and enter that person's
 * other Tenants.
 * @throws {ServiceError} `forbidden` for another address.
 */
async function whoAccepts(tx: Queryable, { invitation, person, bySecretAlone }: Accepting): Promise<string> {
  const { email, user_id: invited } = invitation;
  const user = person && (await findUser(tx, person.id));
  if (user && (invited === null ? user.email === email : user.id === invited)) return user.id;
  if (!bySecretAlone) throw new ServiceError('forbidden', 'This invitation is for another e-mail address');
  if (invited !== null) return invited;
  const { id } = await tx.insertInto('users').values({ email }).returning('id').executeTakeFirstOrThrow();
  return id;
}

export interface Joining {
  /** Already marked as used in this transaction. */
  invitation: TakenInvitation;
  userId: string;
  came: string | undefined;
  /** The existing sign-in of the person; absent if they have just signed in. */
  goesOnFrom?: Caller | undefined;
  traceId: string;
}

/**
 * Makes the person a member with the role of the invitation, or lets them take over the membership that it names, and signs
 * them in. Check first that the invitation is for them.
 * @throws {ServiceError} `conflict` if they are a member already, unless through a group; `unauthenticated` for a closed Tenant;
 * `forbidden` for somebody who was removed or demoted after the invitation, for a membership that has changed since, and if
 * whoever invited may not give the role now.
 */
export async function joinTenant(
  tx: Queryable,
  context: Pick<Context, 'pepper' | 'changes' | 'issuers'>,
  { invitation, userId, came, goesOnFrom, traceId }: Joining,
): Promise<StartedSignIn> {
  const { tenant_id: tenantId, role, email, user_id: invited, member_id: memberId, made_at: madeAt } = invitation;
  const tags = [tagOf.user(userId)];
  let formerId: string | undefined;
  if (memberId !== null) {
    formerId = await takeOver(tx, context, { invitation, memberId, userId, traceId });
    tags.push(tagOf.user(formerId));
  } else if (invited === userId) await restoreOwner(tx, { tenantId, userId, role });
  else await createMember(tx, { tenantId, userId, role, madeAt });
  await requireInvitedSince(tx, { tenantId, userId, madeAt });
  await tx.updateTable('users').set({ email }).where('id', '=', userId).where('email', 'is', null).execute();
  await recordAccepted(tx, { invitation, userId, traceId });
  const signIn = { who: { tenantId, userId }, came, goesOnFrom, traceId, tags };
  const started = await createSignIn(tx, context, signIn);
  // A member who has invited to their own membership had its role until it was taken over.
  if (invitation.made_by !== formerId) await requireStillInvited(tx, invitation);
  return started;
}

async function recordAccepted(
  tx: Queryable,
  { invitation, userId, traceId }: Pick<Joining, 'invitation' | 'userId' | 'traceId'>,
): Promise<void> {
  const { tenant_id: tenantId, id: entityId, role } = invitation;
  const act = { tenantId, actorId: userId, actorType: 'user', traceId } as const;
  await recordChange(tx, act, { operation: 'accept', entityType: 'invitation', entityId, detail: { role } });
}

/** Call it last, because whoever invited may lose the right while this transaction waits. @throws {ServiceError} `forbidden` */
async function requireStillInvited(
  tx: Queryable,
  { tenant_id: tenantId, role, made_by: madeBy }: TakenInvitation,
): Promise<void> {
  if (mayStillInvite(await findGivers(tx, tenantId, [madeBy]), { madeBy, role })) return;
  throw new ServiceError(
    'forbidden',
    'The person who invited you may no longer give this role. Ask for another invitation',
  );
}

/**
 * A member whom a person has removed can return only by an invitation made after the removal. Call it after the member is
 * inserted, because the insert waits for a removal in progress. @throws {ServiceError} `forbidden`
 */
async function requireInvitedSince(
  tx: Queryable,
  { tenantId, userId, madeAt }: { tenantId: string; userId: string; madeAt: string },
): Promise<void> {
  const { rows } = await sql<{ is_since: boolean }>`
    delete from former_members where tenant_id = ${tenantId} and user_id = ${userId}
    returning removed_at <= ${madeAt}::timestamptz as is_since`.execute(tx);
  if (rows.some(({ is_since }) => !is_since)) throw changedSince();
}

function changedSince(): ServiceError {
  const detail = 'You were removed, or got another role, after this invitation was created; ask for another invitation';
  return new ServiceError('forbidden', detail);
}

/** The operator's invitation names an existing member, so this inserts a row only if the member was removed since. */
async function restoreOwner(tx: Queryable, { tenantId, userId, role }: NewMember): Promise<void> {
  await tx
    .insertInto('members')
    .values({ tenant_id: tenantId, user_id: userId, role })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'user_id']).doNothing())
    .execute();
}
