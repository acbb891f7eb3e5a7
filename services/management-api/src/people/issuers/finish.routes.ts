import { hashKey, isWellFormedSecret } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { readAttemptCookie, readSignInCookie } from '@sluice/http-api';
import { ServiceError, validationFailed } from '@sluice/problems';
import { anonymousOperation, type Context } from '../../context.ts';
import { example, uuid } from '../../resource.schema.ts';
import { joinTenant } from '../invitations/accept-invitation.ts';
import { takeInvitation } from '../invitations/invitation.queries.ts';
import { answerSignIn, createSignIn, type StartedSignIn } from '../sign-ins/create-sign-in.ts';
import { listTenantsOf } from '../sign-ins/sign-in.queries.ts';
import { unlessRefused } from '../sign-ins/unless-refused.ts';
import {
  findOrMakePerson,
  findPerson,
  giveIdentity,
  type Person,
  takePending,
  updatePerson,
} from './person.queries.ts';

const finishSignInBody = {
  type: 'object',
  title: 'FinishSignIn',
  examples: [{ tenant_id: example.tenant_id }],
  properties: {
    tenant_id: { ...uuid, description: 'Id of the Tenant. Required if the person is a member of several Tenants' },
    invitation: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description:
        'Secret of an invitation. If you send it, the person accepts the invitation and is signed in to its Tenant',
    },
  },
} as const;

const signInProvider = {
  type: 'object',
  title: 'SignInProvider',
  examples: [{ name: 'keycloak' }],
  required: ['name'],
  properties: { name: { type: 'string' } },
} as const;

const signInProviders = {
  type: 'array',
  items: signInProvider,
  examples: [signInProvider.examples],
} as const;

const tag = 'Signing in';

const finishSignIn = anonymousOperation({
  id: 'finishSignIn',
  tag,
  summary: 'Finish a sign-in with an identity provider',
  description:
    'Call this after the identity provider has sent the browser back. The cookie of this sign-in attempt works once, within ten minutes. An `invitation` is accepted if it has the e-mail address that the identity provider has verified.',
  method: 'post',
  path: '/sign-in/finish',
  body: finishSignInBody,
  response: { 204: null },
  errors: ['unauthenticated', 'forbidden', 'conflict', 'too_many_requests'],
  async handle({ body, request, traceId, address }, context) {
    const { db, changes, pepper, failedSignIns } = context;
    await failedSignIns.refuseMany(address());
    const cookie = readAttemptCookie(request);
    const came = readSignInCookie(request);
    const starting = db.transaction().execute(async (tx) => {
      const person = cookie && isWellFormedSecret(cookie) ? await takePending(tx, hashKey(pepper, cookie)) : undefined;
      if (!person) return undefined;
      return body.invitation === undefined
        ? enter(tx, context, { person, tenantId: body.tenant_id, came, traceId })
        : accept(tx, context, { person, token: body.invitation, came, traceId });
    });
    const started = await unlessRefused(starting);
    if (!started) throw await failedSignIns.refusal(address());
    return answerSignIn(changes, started);
  },
});

interface Finishing {
  person: Person;
  came: string | undefined;
  traceId: string;
}

/** @throws {ServiceError} `forbidden` if the person is not a member; they can then choose another Tenant. */
async function enter(
  tx: Queryable,
  context: Context,
  { person, tenantId: chosen, came, traceId }: Finishing & { tenantId: string | undefined },
): Promise<StartedSignIn> {
  const userId = await findPerson(tx, person);
  const tenants = userId === undefined ? [] : await listTenantsOf(tx, userId);
  if (chosen === undefined && tenants.length > 1) {
    throw validationFailed({ tenant_id: ['is required, because you are a member of several Tenants'] });
  }
  const entered = tenants.find(({ id }) => chosen === undefined || id === chosen);
  if (userId === undefined || !entered) throw new ServiceError('forbidden', 'You are not a member of this Tenant');
  return createSignIn(tx, context, { who: { tenantId: entered.id, userId }, came, traceId });
}

/** @throws {ServiceError} `forbidden` for an invitation that is unknown, used, expired, or for another address. */
async function accept(
  tx: Queryable,
  context: Context,
  { person, token, came, traceId }: Finishing & { token: string },
): Promise<StartedSignIn> {
  const invitation = isWellFormedSecret(token) ? await takeInvitation(tx, hashKey(context.pepper, token)) : undefined;
  if (!invitation || person.email !== invitation.email) throw notForYou();
  const userId = await invitedPerson(tx, person, invitation.user_id);
  await updatePerson(tx, userId, person);
  return joinTenant(tx, context, { invitation, userId, came, traceId });
}

/** If the invitation names a user, the identity is given to that user. */
async function invitedPerson(tx: Queryable, person: Person, invited: string | null): Promise<string> {
  if (invited === null) return findOrMakePerson(tx, person);
  if (await giveIdentity(tx, invited, person)) return invited;
  throw new ServiceError('conflict', 'You are already signed in as another person');
}

function notForYou(): ServiceError {
  return new ServiceError(
    'forbidden',
    'This invitation is not valid for you. It may have been used, it may have expired, or it may be for another e-mail address',
  );
}

const listSignInProviders = anonymousOperation({
  id: 'listSignInProviders',
  tag,
  summary: 'List the identity providers; a sign-in with one begins at `/sign-in/<name>`',
  method: 'get',
  path: '/sign-in-providers',
  response: { 200: signInProviders },
  handle: async (_input, { issuers }) => [...issuers.keys()].map((name) => ({ name })),
});

export const issuerOperations = [finishSignIn, listSignInProviders];
