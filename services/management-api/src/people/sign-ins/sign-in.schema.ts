import { roles } from '@sluice/access';
import { date, example, uuid } from '../../resource.schema.ts';

const userId = '9d2b6e14-3c7f-4f0e-8a61-70c5b8e1d3a9';
const secret = { type: 'string', minLength: 1, maxLength: 200 } as const;

export const signInBody = {
  type: 'object',
  title: 'SignIn',
  description: 'Send exactly one of `secret` and `key`.',
  examples: [{ secret: 'ExampleExampleExampleExampleExampleExampleE' }],
  properties: {
    secret: { ...secret, description: 'Secret of a one-time link' },
    key: {
      ...secret,
      description:
        'API key of an Application of type `management`. The sign-in has the permissions of this Application',
    },
  },
} as const;

export const signInTenantBody = {
  type: 'object',
  title: 'SignInTenant',
  required: ['tenant_id'],
  examples: [{ tenant_id: example.tenant_id }],
  properties: { tenant_id: { ...uuid, description: 'Id of another Tenant of which you are a member' } },
} as const;

export const signOutBody = {
  type: 'object',
  title: 'SignOut',
  examples: [{ all: true }],
  properties: {
    all: { type: 'boolean', default: false, description: 'True: end all sign-ins of the person or of the key' },
  },
} as const;

export const user = {
  type: 'object',
  title: 'User',
  description: 'A person.',
  examples: [{ id: userId, email: 'ada@example.com', first_name: 'Ada' }],
  required: ['id'],
  properties: {
    id: uuid,
    email: { type: 'string', description: 'E-mail address in lower case' },
    first_name: { type: 'string' },
    last_name: { type: 'string' },
    picture: { type: 'string', description: 'Address of an image' },
  },
} as const;

export const me = {
  type: 'object',
  title: 'Me',
  examples: [
    {
      user: user.examples[0],
      tenant: { id: example.tenant_id, name: 'Production' },
      tenants: [{ id: example.tenant_id, name: 'Production', role: 'AUDITOR' }],
      role: 'AUDITOR',
      permissions: ['log:read'],
      expires_at: '2026-03-02T21:30:00.000Z',
    },
  ],
  required: ['tenant', 'permissions', 'expires_at'],
  properties: {
    user,
    application_id: {
      ...uuid,
      description: 'Id of the Application of the management key. Present only for a sign-in with such a key',
    },
    tenant: {
      type: 'object',
      title: 'MyTenant',
      required: ['id', 'name'],
      properties: { id: uuid, name: { type: 'string' } },
    },
    tenants: {
      type: 'array',
      description:
        'Tenants that the person can sign in to with signInToTenant, ordered by name. Present only for a person',
      items: {
        type: 'object',
        title: 'EnterableTenant',
        required: ['id', 'name', 'role'],
        properties: { id: uuid, name: { type: 'string' }, role: { type: 'string', enum: roles } },
        examples: [{ id: example.tenant_id, name: 'Production', role: 'AUDITOR' }],
      },
    },
    role: { type: 'string', enum: roles },
    permissions: { type: 'array', items: { type: 'string' } },
    expires_at: date,
  },
} as const;

export const signIn = {
  type: 'object',
  title: 'SignedIn',
  examples: [
    {
      id: '3e8f1b2a-7c64-4d0b-9a55-1f2e3d4c5b6a',
      user_id: userId,
      created_at: '2026-03-02T09:30:00.000Z',
      last_used_at: '2026-03-02T09:40:00.000Z',
      expires_at: '2026-03-02T21:30:00.000Z',
      current: true,
    },
  ],
  required: ['id', 'created_at', 'last_used_at', 'expires_at', 'current'],
  properties: {
    id: uuid,
    user_id: uuid,
    application_id: uuid,
    created_at: date,
    last_used_at: { ...date, description: 'Time of the last request, exact to the minute' },
    expires_at: date,
    current: { type: 'boolean', description: 'True if you sent this request with this sign-in' },
  },
} as const;
