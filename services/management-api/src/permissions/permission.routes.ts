import { applicationTypes, permissionsFor } from '@sluice/access';
import { operation } from '../context.ts';

const permission = {
  type: 'object',
  title: 'Permission',
  description: 'A permission that an Application can have.',
  examples: [{ type: 'token:create', description: 'Create tokens', application_types: ['public', 'private'] }],
  required: ['type', 'description', 'application_types'],
  properties: {
    type: { type: 'string', description: 'Name of the permission' },
    description: { type: 'string', description: 'What the permission allows' },
    application_types: {
      type: 'array',
      items: { type: 'string', enum: applicationTypes },
      description: 'Application types that can have the permission',
    },
  },
} as const;

export const listPermissions = operation({
  id: 'listPermissions',
  tag: 'Permissions',
  summary: 'List all permissions',
  description: 'A plain array, without pagination.',
  method: 'get',
  path: '/permissions',
  query: {
    type: 'object',
    properties: {
      application_type: {
        type: 'string',
        enum: applicationTypes,
        description: 'Lists only permissions that Applications of this type can have',
      },
    },
  },
  response: { 200: { type: 'array', items: permission, examples: [permission.examples] } },
  async handle({ query }) {
    return permissionsFor(query.application_type);
  },
});
