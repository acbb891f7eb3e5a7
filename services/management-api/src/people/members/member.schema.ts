import { roles } from '@sluice/access';
import { authorship, example, uuid } from '../../resource.schema.ts';
import { user } from '../sign-ins/sign-in.schema.ts';

export const role = {
  type: 'string',
  enum: roles,
  description:
    'OWNER has every management permission, ADMIN all but tenant:delete, DEVELOPER all but tenant:*, AUDITOR all reads. No role has a permission on tokens',
} as const;

export const member = {
  type: 'object',
  title: 'Member',
  description: 'A person with a role in the Tenant.',
  examples: [
    {
      id: '6f1d3b5a-8c72-4e09-b3a4-2d5e7f90a1b8',
      tenant_id: example.tenant_id,
      role: 'ADMIN',
      source: 'person',
      has_identity: true,
      user: user.examples[0],
      ...example.authorship,
    },
  ],
  required: ['id', 'tenant_id', 'role', 'source', 'has_identity', 'user'],
  properties: {
    id: uuid,
    tenant_id: uuid,
    role,
    source: {
      type: 'string',
      enum: ['person', 'group'],
      description:
        'What made the membership: a person, or a group of the identity provider. One of a group ends at the first sign-in without the group',
    },
    has_identity: {
      type: 'boolean',
      description:
        'Whether the person can sign in by a configured identity provider. If not, an invitation to their e-mail address lets whoever accepts it take over this membership',
    },
    user,
    ...authorship,
  },
} as const;

export const updateMemberBody = {
  type: 'object',
  title: 'UpdateMember',
  required: ['role'],
  examples: [{ role: 'AUDITOR' }],
  properties: { role },
} as const;
