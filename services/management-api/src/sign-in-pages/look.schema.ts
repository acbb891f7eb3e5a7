import { roles } from '@sluice/access';
import { example, uuid } from '../resource.schema.ts';

export const linkBody = {
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

export const linkLook = {
  type: 'object',
  title: 'SignInLinkLook',
  examples: [{ tenant: exampleTenant, email: 'ada@example.com' }],
  required: ['tenant'],
  properties: { tenant, email: { type: 'string' } },
} as const;

export const invitationLook = {
  type: 'object',
  title: 'InvitationLook',
  examples: [{ tenant: exampleTenant, email: 'ada@example.com', role: 'AUDITOR' }],
  required: ['tenant', 'email', 'role'],
  properties: { tenant, email: { type: 'string' }, role: { type: 'string', enum: roles } },
} as const;
