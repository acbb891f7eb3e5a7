import { holds, type Role } from '@sluice/access';
import { type Caller, generateSecret, hashKey } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { type Asking, changeRows, created, pageOf, pageQuery, toPage } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { type Context, operation } from '../../context.ts';
import { sortByEmail } from '../../list-order.ts';
import { recordAct } from '../../record-act.ts';
import { emailFilter, idParams } from '../../resource.schema.ts';
import { withoutNulls } from '../../without-nulls.ts';
import { asciiLowerCase } from '../ascii-lower-case.ts';
import { findGivers, mayStillInvite } from '../members/find-givers.ts';
import { requireGiver } from '../members/require-giver.ts';
import { findInvited } from './find-invited.ts';
import {
  countPending,
  deleteInvitation,
  findInvitation,
  insertInvitation,
  isGood,
  isInvited,
  listInvitations,
  lockInvitation,
  lockInvitations,
  replaceSecret,
} from './invitation.queries.ts';
import {
  createInvitationBody,
  invitation as invitationSchema,
  invitationStatuses,
  invitationWithUrl,
} from './invitation.schema.ts';
import { invitationUrl, secretOf } from './invitation.url.ts';

const tag = 'Invitations';
const mostPending = 100;

function invitationNotFound(id: string): ServiceError {
  return new ServiceError('not_found', `Invitation ${id} does not exist`);
}

type Row = NonNullable<Awaited<ReturnType<typeof findInvitation>>>;

function toAnswer({ made_by: _, ...row }: Row, acceptable: boolean) {
  return { ...withoutNulls(row), id: row.id, acceptable };
}

/** Its maker has just been checked. */
function withLink(row: Row, url: string | undefined) {
  return { ...toAnswer(row, true), ...(url !== undefined && { url }) };
}

async function toAnswers(db: Queryable, tenantId: string, rows: readonly Row[]) {
  const givers = await findGivers(
    db,
    tenantId,
    rows.map(({ made_by }) => made_by),
  );
  return rows.map((row) => toAnswer(row, mayStillInvite(givers, { madeBy: row.made_by, role: row.role })));
}

const createInvitation = operation({
  id: 'createInvitation',
  tag,
  summary: 'Invite a person to become a member',
  description: `The response has a link. It works once, for 72 hours. Send it to the person yourself: no mail is sent. You must have all permissions of the role, and only an OWNER who signed in can invite an OWNER. Otherwise the response is 403. If the Tenant already has 100 pending invitations, the response is 429.

**If a member can no longer sign in**, invite the e-mail address of the member. This is possible only while the member has no account at a configured identity provider. The person who accepts the invitation takes over the membership. The person who had the membership before is signed out of this Tenant everywhere. The role of the member does not change, so leave out \`role\`. If you send another role, the response is 409. If you are not allowed to give the role of the member, the response is 403.

The response is 409 in each of these cases:

- A member with this address has an account at a configured identity provider.
- Several members have this address.
- A pending invitation has this address.`,
  method: 'post',
  path: '/tenants/self/invitations',
  permission: 'tenant:invitation:create',
  body: createInvitationBody,
  response: { 201: invitationWithUrl },
  errors: ['conflict', 'too_many_requests'],
  async handle(input, context) {
    const { body, caller, settle } = input;
    const { db, pepper, consoleUrl } = context;
    const { tenantId } = caller;
    const email = asciiLowerCase(body.email);
    const secret = generateSecret();
    const { answer } = await changeRows(db, { tenantId, rows: ['invitations'], settle }, async (tx) => {
      await lockInvitations(tx, tenantId);
      const invited = await findInvited(tx, context, { caller, email, role: body.role ?? 'AUDITOR' });
      if (body.role !== undefined && body.role !== invited.role) throw comesBackAs(invited.role);
      await requireRoom(tx, tenantId, email);
      const row = { tenantId, email, ...invited, secretHash: hashKey(pepper, secret), createdBy: caller.id };
      const inserted = await insertInvitation(tx, row);
      const { id: entityId } = inserted;
      await recordAct(tx, input, {
        operation: 'create',
        entityType: 'invitation',
        entityId,
        detail: { role: invited.role, ...(invited.memberId !== null && { member_id: invited.memberId }) },
      });
      const answer = created('/tenants/self/invitations', withLink(inserted, invitationUrl(consoleUrl, secret)));
      return { answer };
    });
    return answer;
  },
  replay: withoutLinkThatIsGone,
});

function comesBackAs(role: Role): ServiceError {
  const detail = `A member with the role ${role} has this address, and an invitation cannot change the role. To invite the member again, use the button "Invite again" in the list of members, or send no role. To change the role, change the member`;
  return new ServiceError('conflict', detail, { errors: { email: [detail] } });
}

/** @throws {ServiceError} `conflict`, `too_many_requests` */
async function requireRoom(tx: Queryable, tenantId: string, email: string): Promise<void> {
  if (await isInvited(tx, tenantId, email)) {
    const detail = 'This address already has an invitation; send it again, or delete it';
    throw new ServiceError('conflict', detail, { errors: { email: [detail] } });
  }
  if ((await countPending(tx, tenantId)) < mostPending) return;
  const detail = `This Tenant has reached its limit of ${mostPending} pending invitations; delete one first`;
  throw new ServiceError('too_many_requests', detail, { retryAfterSeconds: 3600, limit: 'invitations' });
}

interface Resending {
  caller: Caller;
  found: { email: string; role: Role; member_id: string | null };
}

/** @throws {ServiceError} `conflict` if the address has become that of a member, or its member has changed. */
async function requireSameInvited(tx: Queryable, context: Context, { caller, found }: Resending): Promise<void> {
  const { memberId, role } = await findInvited(tx, context, { caller, email: found.email, role: found.role });
  if (memberId === found.member_id && (memberId === null || role === found.role)) return;
  const detail =
    'The member with this address was changed after the invitation; delete the invitation and create another';
  throw new ServiceError('conflict', detail);
}

/** A replayed response contains the link only while the invitation is pending. */
async function withoutLinkThatIsGone(body: unknown, { db, pepper }: Context, _asking: Asking): Promise<unknown> {
  const { url, ...invitation } = body as { url?: string };
  const isStill = url !== undefined && (await isGood(db, hashKey(pepper, secretOf(url))));
  return isStill ? body : invitation;
}

const listAllInvitations = operation({
  id: 'listInvitations',
  tag,
  summary: 'List the invitations that are not accepted yet',
  description: 'Lists the invitations without their links. A link is shown only when the invitation is created.',
  method: 'get',
  path: '/tenants/self/invitations',
  permission: 'tenant:invitation:read',
  query: {
    type: 'object',
    properties: {
      status: { type: 'string', enum: invitationStatuses, description: 'Lists only invitations with this status' },
      email: emailFilter,
      sort: sortByEmail,
      ...pageQuery,
    },
  },
  response: { 200: pageOf(invitationSchema) },
  async handle({ query, caller }, { db }) {
    const { data, total } = await listInvitations(db, caller.tenantId, query, query);
    return toPage(await toAnswers(db, caller.tenantId, data), total, query);
  },
});

const getInvitation = operation({
  id: 'getInvitation',
  tag,
  summary: 'Get an invitation',
  description: 'The response has no link.',
  method: 'get',
  path: '/tenants/self/invitations/:id',
  permission: 'tenant:invitation:read',
  params: idParams,
  response: { 200: invitationSchema },
  errors: ['not_found'],
  async handle({ params, caller }, { db }) {
    const found = await findInvitation(db, caller.tenantId, params.id);
    if (!found) throw invitationNotFound(params.id);
    const [answer] = await toAnswers(db, caller.tenantId, [found]);
    return answer;
  },
});

const resendInvitation = operation({
  id: 'resendInvitation',
  tag,
  summary: 'Create a new link for an invitation',
  description:
    'Takes no body. The old link is refused, and the new link is valid for 72 hours. You also need tenant:invitation:create and all permissions of the role. Otherwise the response is 403.',
  method: 'post',
  path: '/tenants/self/invitations/:id/resend',
  permission: 'tenant:invitation:update',
  params: idParams,
  response: { 200: invitationWithUrl },
  errors: ['not_found', 'conflict', 'too_many_requests'],
  async handle(input, context) {
    const { params, caller, settle } = input;
    const { db, pepper, consoleUrl } = context;
    if (!holds(caller, 'tenant:invitation:create')) {
      throw new ServiceError('forbidden', 'This request also needs the permission tenant:invitation:create');
    }
    const { tenantId } = caller;
    const secret = generateSecret();
    const { answer } = await changeRows(db, { tenantId, rows: ['invitations'], settle }, async (tx) => {
      await lockInvitations(tx, tenantId);
      const found = await lockInvitation(tx, tenantId, params.id);
      if (!found) throw invitationNotFound(params.id);
      requireGiver(caller, found.role);
      if (found.member_id !== null || !found.isPending) await requireSameInvited(tx, context, { caller, found });
      if (!found.isPending) await requireRoom(tx, tenantId, found.email);
      const secretHash = hashKey(pepper, secret);
      const updated = await replaceSecret(tx, { tenantId, id: params.id, secretHash, modifiedBy: caller.id });
      const message = 'Invitation given a new link';
      await recordAct(tx, input, { operation: 'update', entityType: 'invitation', entityId: params.id, message });
      const answer = withLink(updated, invitationUrl(consoleUrl, secret));
      return { answer };
    });
    return answer;
  },
  replay: withoutLinkThatIsGone,
});

const removeInvitation = operation({
  id: 'deleteInvitation',
  tag,
  summary: 'Delete an invitation',
  description:
    'The link of the invitation is refused from then on. You must have all permissions of its role, and only an OWNER who signed in can delete the invitation of an OWNER. Otherwise the response is 403.',
  method: 'delete',
  path: '/tenants/self/invitations/:id',
  permission: 'tenant:invitation:delete',
  params: idParams,
  response: { 204: null },
  errors: ['not_found'],
  async handle(input, { db }) {
    const { params, caller } = input;
    await db.transaction().execute(async (tx) => {
      const found = await lockInvitation(tx, caller.tenantId, params.id);
      if (!found) throw invitationNotFound(params.id);
      requireGiver(caller, found.role);
      await deleteInvitation(tx, caller.tenantId, params.id);
      await recordAct(tx, input, { operation: 'delete', entityType: 'invitation', entityId: params.id });
    });
  },
});

export const invitationOperations = [
  createInvitation,
  listAllInvitations,
  getInvitation,
  resendInvitation,
  removeInvitation,
];
