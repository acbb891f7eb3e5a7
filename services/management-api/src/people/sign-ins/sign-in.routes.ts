import { recordChange } from '@sluice/audit';
import { actorTypeOf, authenticate, type Caller, hashKey, isWellFormedSecret } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { Confirmed, Reply, readSignInCookie, takeSignInCookie } from '@sluice/http-api';
import { ServiceError, validationFailed } from '@sluice/problems';
import { anonymousOperation, type Context, operation } from '../../context.ts';
import { answerSignIn, createSignIn, ownRow, tagsByTenant } from './create-sign-in.ts';
import { takeLink } from './link.queries.ts';
import {
  deleteAllOf,
  deleteSignIn,
  type EndedSignIn,
  listTenantsOf,
  type SignedIn,
  signedInOf,
} from './sign-in.queries.ts';
import { signInBody, signInTenantBody, signOutBody } from './sign-in.schema.ts';
import { unlessRefused } from './unless-refused.ts';

const tag = 'Signing in';

const signIn = anonymousOperation({
  id: 'signIn',
  tag,
  summary: 'Sign in with a one-time link or a management key',
  method: 'post',
  path: '/sign-in',
  body: signInBody,
  response: { 204: null },
  errors: ['unauthenticated', 'too_many_requests'],
  async handle({ body: { secret, key }, request, traceId, address }, context) {
    if ((secret === undefined) === (key === undefined)) {
      throw validationFailed({ secret: ['send either secret or key'] });
    }
    const { db, changes, failedSignIns } = context;
    await failedSignIns.refuseMany(address());
    const came = readSignInCookie(request);
    const starting = async () => {
      const ofKey = key === undefined ? undefined : await keyHolder(context, key);
      return db.transaction().execute(async (tx) => {
        const who = secret === undefined ? ofKey : await linkHolder(tx, context, secret);
        return who && createSignIn(tx, context, { who, came, traceId });
      });
    };
    const started = await unlessRefused(starting());
    if (!started) throw await failedSignIns.refusal(address());
    return answerSignIn(changes, started);
  },
});

/** Undefined if the key is not a management key. @throws {ServiceError} `unauthenticated` for an unknown key. */
async function keyHolder({ callers, pepper, keyUses }: Context, key: string): Promise<SignedIn | undefined> {
  const { id, tenantId, type, keyId } = await authenticate(key, { callers, pepper, keyUses, headerName: 'key' });
  return type === 'management' && keyId !== undefined ? { tenantId, applicationId: id, keyId } : undefined;
}

async function linkHolder(
  tx: Queryable,
  { pepper, linkSignIn }: Context,
  secret: string,
): Promise<SignedIn | undefined> {
  return linkSignIn && isWellFormedSecret(secret) ? takeLink(tx, hashKey(pepper, secret)) : undefined;
}

const signInToTenant = operation({
  id: 'signInToTenant',
  tag,
  summary: 'Sign in to another Tenant of the person',
  description:
    'Ends your sign-in and starts a new one in the other Tenant. The new sign-in expires at the time at which the old one would have expired.',
  method: 'post',
  path: '/sign-in/tenant',
  takesKeyOf: 'user',
  idempotent: false,
  body: signInTenantBody,
  confirmed: true,
  response: { 204: null },
  errors: ['not_found'],
  async handle({ body: { tenant_id: tenantId }, caller, traceId, look }, context) {
    const started = await context.db.transaction().execute(async (tx) => {
      const tenants = await listTenantsOf(tx, caller.id);
      if (!tenants.some(({ id }) => id === tenantId)) {
        throw new ServiceError('not_found', `You are not a member of the Tenant ${tenantId}`);
      }
      await look(tx);
      return createSignIn(tx, context, { who: { tenantId, userId: caller.id }, goesOnFrom: caller, traceId });
    });
    return answerSignIn(context.changes, started);
  },
});

const signOut = operation({
  id: 'signOut',
  tag,
  summary: 'End this sign-in, or all sign-ins of the person or key',
  method: 'post',
  path: '/sign-out',
  idempotent: false,
  body: signOutBody,
  bodyOptional: true,
  confirmed: true,
  response: { 204: null },
  async handle({ body, caller, traceId }, { db, changes }) {
    const own = ownRow(caller);
    const change = await db.transaction().execute(async (tx) => {
      const ended = body.all === true ? await deleteAllOf(tx, signedInOf(caller)) : [own];
      if (body.all !== true) await deleteSignIn(tx, own.tenant_id, own.id);
      await recordEnd(tx, { caller, traceId }, ended);
      const tags = tagsByTenant(ended);
      return changes.recordEach(tx, tags.size > 0 ? tags : tagsByTenant([own]));
    });
    return new Confirmed(await changes.barrier(change), new Reply(204, undefined, takeSignInCookie));
  },
});

/** Writes a row in the log of each Tenant. */
async function recordEnd(
  tx: Queryable,
  { caller, traceId }: { caller: Caller; traceId: string },
  ended: readonly EndedSignIn[],
): Promise<void> {
  const actorType = actorTypeOf(caller) === 'user' ? 'user' : 'application';
  for (const tenantId of new Set(ended.map(({ tenant_id }) => tenant_id))) {
    const sign_in_ids = ended.filter(({ tenant_id }) => tenant_id === tenantId).map(({ id }) => id);
    const act = { tenantId, actorId: caller.id, actorType, traceId } as const;
    const signedOut = {
      operation: 'update',
      entityType: actorType,
      entityId: caller.id,
      message: 'Signed out',
    } as const;
    await recordChange(tx, act, { ...signedOut, detail: { sign_in_ids } });
  }
}

export const anonymousSignInOperations = [signIn];
export const signInOperations = [signInToTenant, signOut];
