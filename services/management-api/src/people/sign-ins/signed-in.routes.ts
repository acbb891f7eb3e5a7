import { holds } from '@sluice/access';
import { tagOf } from '@sluice/cache-coherence';
import type { Caller } from '@sluice/credentials';
import { Confirmed, pageOf, pageQuery, toPage } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { operation } from '../../context.ts';
import { sortByEmail } from '../../list-order.ts';
import { recordOwnAct } from '../../record-act.ts';
import { emailFilter, idParams } from '../../resource.schema.ts';
import { findTenant } from '../../tenants/tenant.queries.ts';
import { withoutNulls } from '../../without-nulls.ts';
import { requireGiver } from '../members/require-giver.ts';
import { deleteSignIn, findSignInById, findUser, listSignIns, listTenantsOf, signedInOf } from './sign-in.queries.ts';
import { me, signIn } from './sign-in.schema.ts';

const tag = 'Signing in';

const getMe = operation({
  id: 'getMe',
  tag,
  summary: 'Get who is signed in, to which Tenant, with which permissions',
  method: 'get',
  path: '/me',
  response: { 200: me },
  async handle({ caller }, { db }) {
    const { id, tenantId, type, role, permissions, rules, expiresAt } = caller;
    const isPerson = type === 'user';
    const [user, tenants, tenant] = await Promise.all([
      isPerson ? findUser(db, id) : undefined,
      isPerson ? listTenantsOf(db, id) : undefined,
      findTenant(db, tenantId),
    ]);
    if (!tenant) throw new ServiceError('unauthenticated', 'The Tenant was closed');
    return {
      ...(user ? { user: withoutNulls(user) } : { application_id: id }),
      tenant: { id: tenant.id, name: tenant.name },
      ...(tenants && { tenants }),
      ...(role && { role }),
      permissions: [...new Set([...permissions, ...rules.flatMap((rule) => rule.permissions)])],
      expires_at: expiresAt,
    };
  },
});

const listAllSignIns = operation({
  id: 'listSignIns',
  tag,
  summary: 'List the sign-ins in this Tenant',
  description: 'If you have `tenant:member:read`, the list has all sign-ins. Otherwise it has only your own sign-ins.',
  method: 'get',
  path: '/sign-ins',
  query: { type: 'object', properties: { email: emailFilter, sort: sortByEmail, ...pageQuery } },
  response: { 200: pageOf(signIn) },
  async handle({ query, caller }, { db }) {
    const who = holds(caller, 'tenant:member:read') ? undefined : signedInOf(caller);
    const { data, total } = await listSignIns(db, { tenantId: caller.tenantId, who, email: query.email }, query);
    const answers = data.map((row) => ({ ...withoutNulls(row), current: row.id === caller.signInId }));
    return toPage(answers, total, query);
  },
});

const endSignIn = operation({
  id: 'endSignIn',
  tag,
  summary: 'End a sign-in',
  description:
    'You can always end your own sign-ins. To end a sign-in of another person you need tenant:member:update and all permissions of the role of that person. Only an OWNER who signed in can end a sign-in of an OWNER. Otherwise the response is 403. To end the sign-in of an API key, tenant:member:update is enough, so that a leaked key can be stopped.',
  method: 'delete',
  path: '/sign-ins/:id',
  params: idParams,
  confirmed: true,
  response: { 204: null },
  errors: ['not_found'],
  async handle(input, { db, changes }) {
    const { params, caller } = input;
    const change = await db.transaction().execute(async (tx) => {
      const found = await findSignInById(tx, caller.tenantId, params.id);
      const mayKnow = found && (isOwn(found, caller) || holds(caller, 'tenant:member:read'));
      if (!mayKnow) throw signInNotFound(params.id);
      if (!isOwn(found, caller) && !holds(caller, 'tenant:member:update')) {
        throw new ServiceError(
          'forbidden',
          'To end a sign-in of somebody else you need the permission tenant:member:update',
        );
      }
      if (!isOwn(found, caller) && found.role !== null) requireGiver(caller, found.role);
      await input.look(tx); // before the end, because the caller may be ending its own sign-in
      // While this request waited, the sign-in may have ended or been replaced.
      if (!(await deleteSignIn(tx, caller.tenantId, params.id))) throw signInNotFound(params.id);
      const entity = found.user_id
        ? ({ entityType: 'user', entityId: found.user_id } as const)
        : ({ entityType: 'application', entityId: found.application_id ?? '' } as const);
      const detail = { sign_in_ids: [params.id] };
      await recordOwnAct(tx, input, { operation: 'update', ...entity, message: 'Signed out', detail });
      return changes.record(tx, caller.tenantId, [tagOf.signIn(params.id)]);
    });
    return new Confirmed(await changes.barrier(change));
  },
});

function signInNotFound(id: string): ServiceError {
  return new ServiceError('not_found', `Sign-in ${id} does not exist`);
}

interface Row {
  user_id: string | null;
  application_id: string | null;
  key_id: string | null;
}

const isOwn = (row: Row, { id, keyId }: Caller) =>
  keyId === undefined ? row.user_id === id : row.application_id === id && row.key_id === keyId;

export const signedInOperations = [getMe, listAllSignIns, endSignIn];
