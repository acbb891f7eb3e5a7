import { roles } from '@sluice/access';
import { hashKey, isWellFormedSecret } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import { anonymousOperation, type Context } from '../../context.ts';
import { example, uuid } from '../../resource.schema.ts';
import { findBySecret } from '../invitations/invitation.queries.ts';
import { acceptInvitationBody } from '../invitations/invitation.schema.ts';
import { findLink } from '../sign-ins/link.queries.ts';

const linkBody = {
  type: 'object',
  title: 'SignInLink',
  required: ['secret'],
  examples: [{ secret: 'ExampleExampleExampleExampleExampleExampleE' }],
  properties: { secret: { type: 'string', minLength: 1, maxLength: 200 } },
} as const;

const tenant = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: uuid, name: { type: 'string' } },
} as const;

const exampleTenant = { id: example.tenant_id, name: 'Production' };

const linkLook = {
  type: 'object',
  title: 'SignInLinkLook',
  examples: [{ tenant: exampleTenant, email: 'ada@example.com' }],
  required: ['tenant'],
  properties: { tenant, email: { type: 'string' } },
} as const;

const invitationLook = {
  type: 'object',
  title: 'InvitationLook',
  examples: [{ tenant: exampleTenant, email: 'ada@example.com', role: 'AUDITOR' }],
  required: ['tenant', 'email', 'role'],
  properties: { tenant, email: { type: 'string' }, role: { type: 'string', enum: roles } },
} as const;

const tag = 'Signing in';

const lookAtLink = anonymousOperation({
  id: 'lookAtSignInLink',
  tag,
  summary: 'Get the person whom a one-time link signs in, without using up the link',
  method: 'post',
  path: '/sign-in/link',
  body: linkBody,
  response: { 200: linkLook },
  errors: ['unauthenticated', 'too_many_requests'],
  async handle({ body: { secret }, address }, context) {
    const find = context.linkSignIn ? findLink : undefined;
    const { tenant_id: id, tenant_name: name, email } = await look(context, { secret, address, find });
    return { tenant: { id, name }, ...(email !== null && { email }) };
  },
});

const lookAtInvitation = anonymousOperation({
  id: 'lookAtInvitation',
  tag,
  summary: 'Get the Tenant, e-mail address and role of an invitation, without accepting it',
  method: 'post',
  path: '/invitations/link',
  body: acceptInvitationBody,
  response: { 200: invitationLook },
  errors: ['unauthenticated', 'too_many_requests'],
  async handle({ body: { token: secret }, address }, context) {
    const found = await look(context, { secret, address, find: findBySecret });
    return { tenant: { id: found.tenant_id, name: found.tenant_name }, email: found.email, role: found.role };
  },
});

interface Look<T> {
  secret: string;
  address: () => string;
  find: ((db: Database, secretHash: Buffer) => Promise<T | undefined>) | undefined;
}

/**
 * @throws {ServiceError} `unauthenticated`, the same for a secret that is unknown, used, expired, or of a closed
 * Tenant.
 */
async function look<T>({ db, pepper, failedSignIns }: Context, { secret, address, find }: Look<T>): Promise<T> {
  await failedSignIns.refuseMany(address());
  const found = isWellFormedSecret(secret) ? await find?.(db, hashKey(pepper, secret)) : undefined;
  if (!found) throw await failedSignIns.refusal(address());
  return found;
}

export const lookOperations = [lookAtLink, lookAtInvitation];
