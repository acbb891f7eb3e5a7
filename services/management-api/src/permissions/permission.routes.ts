import { applicationTypes, permissionsFor } from '@sluice/access';
import { operation } from '../context.ts';

const permission = {
  type: 'object',
  title: 'Permission',
  description: 'What an Application can be granted.',
  examples: [{ type: 'token:create', description: 'Create tokens', application_types: ['public', 'private'] }],
  required: ['type', 'description', 'application_types'],
  properties: {
    type: { type: 'string', description: 'Permission type referenced by operations' },
    description: { type: 'string', description: 'What it allows' },
    application_types: {
      type: 'array',
      items: { type: 'string', enum: applicationTypes },
      description: 'Application types that can hold it',
    },
  },
} as const;

export const listPermissions = operation({
  id: 'listPermissions',
  tag: 'Permissions',
  summary: 'List the permissions that there are, with the Application types that can hold each',
  description: 'A plain array, not paginated.',
  method: 'get',
  path: '/permissions',
  query: {
    type: 'object',
    properties: {
      application_type: {
        type: 'string',
        enum: applicationTypes,
        description: 'Only those that Applications of this type can hold',
      },
    },
  },
  response: { 200: { type: 'array', items: permission, examples: [permission.examples] } },
  async handle({ query }) {
    return permissionsFor(query.application_type);
  },
});
