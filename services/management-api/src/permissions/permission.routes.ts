import { applicationTypes, permissionsFor } from '@sluice/access';
import { operation } from '../context.ts';

const permission = {
  type: 'object',
  title: 'Permission',
  required: ['type', 'description', 'application_types'],
  properties: {
    type: { type: 'string' },
    description: { type: 'string' },
    application_types: { type: 'array', items: { type: 'string', enum: applicationTypes } },
  },
} as const;

export const listPermissions = operation({
  id: 'listPermissions',
  summary: 'List the permissions that there are, with the Application types that can hold each',
  method: 'get',
  path: '/permissions',
  query: { type: 'object', properties: { application_type: { type: 'string', enum: applicationTypes } } },
  response: { 200: { type: 'array', items: permission } },
  async handle({ query }) {
    return permissionsFor(query.application_type);
  },
});
