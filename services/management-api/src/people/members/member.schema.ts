import { roles } from '@sluice/access';
import { authorship, example, uuid } from '../../resource.schema.ts';
import { user } from '../sign-ins/sign-in.schema.ts';

export const role = {
  type: 'string',
  enum: roles,
  description:
    'OWNER: all management permissions. ADMIN: all management permissions except tenant:delete. DEVELOPER: all management permissions except tenant:*. AUDITOR: only the management permissions for reading. No role has a permission on tokens',
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
        'How the person became a member. `person`: by an invitation. `group`: by a group of the identity provider. A membership from a group ends at the next sign-in if the person is in no such group any more',
    },
    has_identity: {
      type: 'boolean',
      description:
        'Whether the person can sign in with a configured identity provider. If it is false, you can invite the e-mail address of this member again. The person who accepts that invitation takes over the membership',
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
