import { type RecordedChange, tagOf } from '@sluice/cache-coherence';
import type { Queryable } from '@sluice/database';
import { type Acting, Confirmed, changeRows, pageOf, pageQuery, toPage } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { type Context, operation } from '../../context.ts';
import { sortByEmail } from '../../list-order.ts';
import { recordOwnAct } from '../../record-act.ts';
import { emailFilter, idFilter, idParams } from '../../resource.schema.ts';
import { withoutNulls } from '../../without-nulls.ts';
import { withIdentity } from '../issuers/with-identity.ts';
import { deleteMember, findMember, type LockedMember, listMembers, lockWithOwners, setRole } from './member.queries.ts';
import { member as memberSchema, updateMemberBody } from './member.schema.ts';
import { requireGiver } from './require-giver.ts';

type Found = NonNullable<Awaited<ReturnType<typeof findMember>>>;

async function toAnswers(db: Queryable, issuers: Context['issuers'], found: readonly Found[]) {
  const userIds = found.map(({ user_id }) => user_id);
  const known = await withIdentity(db, issuers, userIds);
  return found.map(({ user_id, email, first_name, last_name, picture, ...member }) => ({
    ...withoutNulls(member),
    has_identity: known.has(user_id),
    user: withoutNulls({ id: user_id, email, first_name, last_name, picture }),
  }));
}

function memberNotFound(id: string): ServiceError {
  return new ServiceError('not_found', `Member ${id} does not exist`);
}

const tag = 'Members';

const listAllMembers = operation({
  id: 'listMembers',
  tag,
  summary: 'List the members of the Tenant',
  method: 'get',
  path: '/tenants/self/members',
  permission: 'tenant:member:read',
  query: {
    type: 'object',
    properties: {
      user_id: { ...idFilter, description: 'Lists only members with these user ids' },
      email: emailFilter,
      sort: sortByEmail,
      ...pageQuery,
    },
  },
  response: { 200: pageOf(memberSchema) },
  async handle({ query, caller }, { db, issuers }) {
    const filter = { userIds: query.user_id ?? [], email: query.email };
    const { data, total } = await listMembers(db, caller.tenantId, filter, query);
    return toPage(await toAnswers(db, issuers, data), total, query);
  },
});

const putMember = operation({
  id: 'updateMember',
  tag,
  summary: 'Change the role of a member',
  description:
    'You must have all permissions of the old role and of the new role. Only an OWNER who signed in can give or take the role OWNER; a key cannot. Otherwise the response is 403. The role of the last OWNER cannot be changed (422). After the response, no service uses the former role.',
  method: 'put',
  path: '/tenants/self/members/:id',
  permission: 'tenant:member:update',
  params: idParams,
  body: updateMemberBody,
  confirmed: true,
  versioned: true,
  response: { 200: memberSchema },
  errors: ['not_found', 'limit_reached'],
  async handle(input, context) {
    const { params, body, caller } = input;
    const { tenantId } = caller;
    const { updated, change } = await changeMember(context, input, async (tx, { target, isLastOwner }) => {
      requireGiver(caller, target.role, body.role);
      input.requireVersion(target);
      if (isLastOwner && body.role !== 'OWNER') throw lastOwner();
      await setRole(tx, { tenantId, id: target.id, role: body.role, modifiedBy: caller.id });
      const detail = { user_id: target.user_id, role: body.role, former_role: target.role };
      await recordOwnAct(tx, input, { operation: 'update', entityType: 'member', entityId: target.id, detail });
      return findMember(tx, tenantId, target.id);
    });
    if (!updated) throw memberNotFound(params.id);
    const [answer] = await toAnswers(context.db, context.issuers, [updated]);
    return new Confirmed(await context.changes.barrier(change), answer);
  },
});

const removeMember = operation({
  id: 'deleteMember',
  tag,
  summary: 'Remove a member',
  description:
    'The person is signed out of this Tenant everywhere. API keys that the person created stay valid. You must have all permissions of the role of the member, and only an OWNER who signed in can remove an OWNER. Otherwise the response is 403. The last OWNER cannot be removed (422).',
  method: 'delete',
  path: '/tenants/self/members/:id',
  permission: 'tenant:member:delete',
  params: idParams,
  confirmed: true,
  versioned: true,
  response: { 204: null },
  errors: ['not_found', 'limit_reached'],
  async handle(input, context) {
    const { caller } = input;
    const { change } = await changeMember(context, input, async (tx, { target, isLastOwner }) => {
      requireGiver(caller, target.role);
      input.requireVersion(target);
      if (isLastOwner) throw lastOwner();
      const { id, user_id: userId } = target;
      await deleteMember(tx, { tenantId: caller.tenantId, id, userId, removedBy: caller.id });
      const detail = { user_id: userId, former_role: target.role };
      await recordOwnAct(tx, input, { operation: 'delete', entityType: 'member', entityId: id, detail });
    });
    return new Confirmed(await context.changes.barrier(change));
  },
});

interface Locked {
  target: LockedMember;
  isLastOwner: boolean;
}

/**
 * Checks the caller after the last wait, before the commit. A person who changes their own membership is checked before
 * the change, which takes the rights away; the row lock keeps others from changing them until the commit.
 * @throws {ServiceError} `forbidden` for a caller that has just lost the role OWNER; `not_found`.
 */
async function changeMember<T>(
  { db, changes }: Context,
  { caller, look, params: { id } }: Acting & { params: { id: string } },
  work: (tx: Queryable, locked: Locked) => Promise<T>,
): Promise<{ updated: T; change: RecordedChange }> {
  const { tenantId } = caller;
  return changeRows(db, { tenantId, rows: ['members'] }, async (tx) => {
    const locked = await lockWithOwners(tx, tenantId, id);
    const owners = locked.filter(({ role }) => role === 'OWNER');
    if (caller.role === 'OWNER' && !owners.some(({ user_id }) => user_id === caller.id)) {
      throw new ServiceError('forbidden', 'You are no longer OWNER of this Tenant');
    }
    const target = locked.find((member) => member.id === id);
    if (!target) throw memberNotFound(id);
    const isCaller = target.user_id === caller.id;
    if (isCaller) await look(tx);
    const updated = await work(tx, { target, isLastOwner: target.role === 'OWNER' && owners.length === 1 });
    if (!isCaller) await look(tx);
    return { updated, change: await changes.record(tx, tenantId, [tagOf.user(target.user_id)]) };
  });
}

function lastOwner(): ServiceError {
  return new ServiceError('limit_reached', 'A Tenant needs at least one OWNER; make another member OWNER first');
}

export const memberOperations = [listAllMembers, putMember, removeMember];
