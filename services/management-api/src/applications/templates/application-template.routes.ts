import { type AccessRule, type ApplicationType, applicationTypes, permissionsFor } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import { operation } from '../../context.ts';
import { idParams, uuid } from '../../resource.schema.ts';
import { accessRule } from '../application.schema.ts';

interface ApplicationTemplate {
  id: string;
  name: string;
  description: string;
  application_type: ApplicationType;
  permissions: readonly string[];
  rules: readonly AccessRule[];
}

/** Ids must not change, because clients may have stored them. */
const templates: readonly ApplicationTemplate[] = [
  {
    id: '7b0f4c52-6d3e-4a2b-9f10-1c8e5a7d2b01',
    name: 'browser-collection',
    description: 'Collects values in browsers and mobile applications. It can read nothing.',
    application_type: 'public',
    permissions: ['token:create'],
    rules: [],
  },
  {
    id: '7b0f4c52-6d3e-4a2b-9f10-1c8e5a7d2b02',
    name: 'backend-vault',
    description: 'Stores, reads in plaintext, searches, changes and deletes tokens in every container.',
    application_type: 'private',
    permissions: [],
    rules: [
      {
        description: 'Every token, in plaintext',
        priority: 1,
        container: '/',
        transform: 'reveal',
        permissions: ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete'],
      },
    ],
  },
  {
    id: '7b0f4c52-6d3e-4a2b-9f10-1c8e5a7d2b03',
    name: 'proxy-caller',
    description: 'Invokes Proxies with tokens of every container. It can read no token.',
    application_type: 'private',
    permissions: ['token:use'],
    rules: [],
  },
  {
    id: '7b0f4c52-6d3e-4a2b-9f10-1c8e5a7d2b04',
    name: 'administrator',
    description: 'Manages the whole Tenant. It can read no token.',
    application_type: 'management',
    permissions: permissionsFor('management').map(({ type }) => type),
    rules: [],
  },
  {
    id: '7b0f4c52-6d3e-4a2b-9f10-1c8e5a7d2b05',
    name: 'agent',
    description:
      'Calls routes with tokens in the container /agents/. It can read no token. Set its list of Proxies, so that it can call only the Proxies in the list.',
    application_type: 'private',
    permissions: [],
    rules: [
      {
        description: 'Tokens that agents use',
        priority: 1,
        container: '/agents/',
        transform: 'redact',
        permissions: ['token:use'],
      },
    ],
  },
];

const applicationTemplate = {
  type: 'object',
  title: 'ApplicationTemplate',
  description: 'Permissions and rules for a common kind of Application. Send them to createApplication.',
  required: ['id', 'name', 'description', 'application_type', 'permissions', 'rules'],
  examples: [templates[0]],
  properties: {
    id: uuid,
    name: { type: 'string' },
    description: { type: 'string', description: 'Purpose of the Application' },
    application_type: { type: 'string', enum: applicationTypes },
    permissions: { type: 'array', items: { type: 'string' } },
    rules: { type: 'array', items: accessRule },
  },
} as const;

const listApplicationTemplates = operation({
  id: 'listApplicationTemplates',
  tag: 'Applications',
  summary: 'List templates of Applications',
  description: 'A plain array, without pagination. It is the same for every Tenant.',
  method: 'get',
  path: '/application-templates',
  response: { 200: { type: 'array', items: applicationTemplate, examples: [templates] } },
  handle: async () => templates,
});

const getApplicationTemplate = operation({
  id: 'getApplicationTemplate',
  tag: 'Applications',
  summary: 'Get a template of an Application',
  method: 'get',
  path: '/application-templates/:id',
  params: idParams,
  response: { 200: applicationTemplate },
  errors: ['not_found'],
  async handle({ params }) {
    const found = templates.find(({ id }) => id === params.id);
    if (!found) throw new ServiceError('not_found', `Application template ${params.id} does not exist`);
    return found;
  },
});

export const applicationTemplateOperations = [listApplicationTemplates, getApplicationTemplate];
