import { authorship, date, example, uuid } from '../../resource.schema.ts';
import { role } from '../members/member.schema.ts';
import { email } from './e-mail.ts';

export const invitationStatuses = ['PENDING', 'EXPIRED'] as const;

export const invitation = {
  type: 'object',
  title: 'Invitation',
  description: 'An invitation to become a member of the Tenant.',
  examples: [
    {
      id: '2a9c4e6f-1b3d-4f58-9a7c-8e0d2f4b6c1a',
      tenant_id: example.tenant_id,
      email: 'ada@example.com',
      role: 'AUDITOR',
      status: 'PENDING',
      expires_at: '2026-03-05T09:30:00.000Z',
      acceptable: true,
      ...example.authorship,
    },
  ],
  required: ['id', 'tenant_id', 'email', 'role', 'status', 'expires_at', 'acceptable'],
  properties: {
    id: uuid,
    tenant_id: uuid,
    email: { type: 'string', description: 'E-mail address, with ASCII letters in lower case' },
    role,
    member_id: { ...uuid, description: 'The membership that the person takes over by accepting the invitation' },
    status: { type: 'string', enum: invitationStatuses },
    expires_at: {
      ...date,
      description: 'When the link expires: 72 hours after the invitation was created or sent again',
    },
    acceptable: {
      type: 'boolean',
      description:
        'False if the person who created the link may no longer give this role. Accepting the invitation is then 403. Send the invitation again to create a new link',
    },
    ...authorship,
  },
} as const;

export const invitationWithUrl = {
  ...invitation,
  title: 'InvitationWithUrl',
  description: 'An invitation with its link, which is shown only here.',
  examples: [
    {
      ...invitation.examples[0],
      url: 'https://console.example.com/invitation#ExampleExampleExampleExampleExampleExampleE',
    },
  ],
  properties: {
    ...invitation.properties,
    url: {
      type: 'string',
      description:
        'The link. Send it to the person yourself: no mail is sent. It works once. Absent if the installation has no console: then nobody can accept the invitation',
    },
  },
} as const;

export const createInvitationBody = {
  type: 'object',
  title: 'CreateInvitation',
  required: ['email'],
  examples: [{ email: 'ada@example.com', role: 'DEVELOPER' }],
  properties: {
    email,
    role: {
      ...role,
      description: `${role.description}. Default: the role of the member with this address. If there is no such member: AUDITOR`,
    },
  },
} as const;

export const acceptInvitationBody = {
  type: 'object',
  title: 'AcceptInvitation',
  required: ['token'],
  examples: [{ token: 'ExampleExampleExampleExampleExampleExampleE' }],
  properties: {
    token: { type: 'string', minLength: 1, maxLength: 200, description: 'The part of the link after #' },
  },
} as const;
