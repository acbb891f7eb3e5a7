import { operation } from '../context.ts';
import { example, idParams, uuid } from '../resource.schema.ts';
import { applicationNotFound } from './application.not-found.ts';
import { findApplication } from './application.queries.ts';
import { findUses } from './application-uses.queries.ts';

const mostShown = 100;

const use = {
  type: 'object',
  title: 'ApplicationUse',
  required: ['id', 'name'],
  properties: { id: uuid, name: { type: 'string' } },
  examples: [{ id: '3e9d1c52-7b0f-4a86-9c41-b5f20e6a8d73', name: 'Payment processor' }],
} as const;

const uses = {
  type: 'object',
  title: 'ApplicationUses',
  description: 'The Proxies and reactors that name an Application.',
  required: ['proxy_count', 'reactor_count'],
  examples: [
    {
      proxy_count: 1,
      reactor_count: 0,
      proxies: [{ id: '3e9d1c52-7b0f-4a86-9c41-b5f20e6a8d73', name: 'Payment processor' }],
      reactors: [],
    },
  ],
  properties: {
    proxy_count: { type: 'integer', description: 'Number of Proxies whose `application` is this Application' },
    reactor_count: { type: 'integer', description: 'Number of reactors whose `application` is this Application' },
    proxies: {
      type: 'array',
      items: use,
      description:
        'The newest 100 Proxies whose `application` is this Application. Absent if the caller does not have `proxy:read`',
    },
    reactors: {
      type: 'array',
      items: use,
      description:
        'The newest 100 reactors whose `application` is this Application. Absent if the caller does not have `reactor:read`',
    },
  },
} as const;

export const getApplicationUses = operation({
  id: 'getApplicationUses',
  tag: 'Applications',
  summary: 'List the Proxies and reactors that use an Application',
  description: `Call this before you delete an Application. After the deletion, the code of the Proxies and reactors that use the Application has no \`req.svc\`. For example, \`GET /applications/${example.application_id}/uses\`.`,
  method: 'get',
  path: '/applications/:id/uses',
  permission: 'application:read',
  params: idParams,
  response: { 200: uses },
  errors: ['not_found'],
  async handle({ params, caller }, { db }) {
    const { tenantId, permissions } = caller;
    if (!(await findApplication(db, tenantId, params.id))) throw applicationNotFound(params.id);
    const of = { tenantId, applicationId: params.id };
    const proxies = await findUses(db, { ...of, table: 'proxies' }, mostShown);
    const reactors = await findUses(db, { ...of, table: 'reactors' }, mostShown);
    return {
      proxy_count: proxies.count,
      reactor_count: reactors.count,
      ...(permissions.includes('proxy:read') && { proxies: proxies.uses }),
      ...(permissions.includes('reactor:read') && { reactors: reactors.uses }),
    };
  },
});
