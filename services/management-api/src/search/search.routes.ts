import { holds, type PermissionType } from '@sluice/access';
import type { Queryable } from '@sluice/database';
import { operation } from '../context.ts';
import { example, uuid } from '../resource.schema.ts';
import { type Found, searchByName, searchMembers } from './search.queries.ts';

type Find = (db: Queryable, sought: { tenantId: string; text: string }) => Promise<Found[]>;

/** In the order of the response. */
const kinds = {
  application: ['application:read', (db, sought) => searchByName(db, { ...sought, table: 'applications' })],
  proxy: ['proxy:read', (db, sought) => searchByName(db, { ...sought, table: 'proxies' })],
  reactor: ['reactor:read', (db, sought) => searchByName(db, { ...sought, table: 'reactors' })],
  reactor_formula: ['reactor:read', (db, sought) => searchByName(db, { ...sought, table: 'reactor_formulas' })],
  member: ['tenant:member:read', searchMembers],
} as const satisfies Record<string, readonly [PermissionType, Find]>;

const searchResults = {
  type: 'object',
  title: 'SearchResults',
  description: 'What a search found.',
  examples: [
    {
      data: [
        { kind: 'application', id: example.application_id, name: 'Payments backend' },
        { kind: 'proxy', id: '1d3f5a7c-9e0b-4c2d-8f46-a1b3c5d7e9f0', name: 'Payment processor' },
        { kind: 'member', id: '6f1d3b5a-8c72-4e09-b3a4-2d5e7f90a1b8', name: 'payments@example.com' },
      ],
    },
  ],
  required: ['data'],
  properties: {
    data: {
      type: 'array',
      description: 'Ordered by kind, and within a kind by name in lower case',
      items: {
        type: 'object',
        title: 'SearchResult',
        required: ['kind', 'id'],
        properties: {
          kind: { type: 'string', enum: Object.keys(kinds) as (keyof typeof kinds)[] },
          id: uuid,
          name: {
            type: 'string',
            description: 'Name of the item. For a member, the e-mail address; absent if the member has none',
          },
        },
      },
    },
  },
} as const;

export const search = operation({
  id: 'search',
  tag: 'Search',
  summary: 'Search Applications, Proxies, reactors, reactor formulas and members by name, e-mail address or id',
  description:
    'The response has at most 8 items of each kind that the caller may read (`application:read`, `proxy:read`, `reactor:read` for reactors and formulas, `tenant:member:read`). Other kinds are left out. To get more than 8, use the list operation of the kind, such as listProxies, with its filter `name` or `email`.',
  method: 'get',
  path: '/search',
  query: {
    type: 'object',
    required: ['q'],
    properties: {
      q: {
        type: 'string',
        minLength: 3,
        maxLength: 200,
        description:
          'Part of a name or an e-mail address, or at least the first eight digits of an id. Case is ignored, and there are no wildcards',
      },
    },
  },
  response: { 200: searchResults },
  async handle({ query, caller }, { db }) {
    const sought = { tenantId: caller.tenantId, text: query.q };
    const data: { kind: string; id: string; name?: string }[] = [];
    // One after the other, so that a search takes one connection.
    for (const [kind, [permission, find]] of Object.entries<readonly [PermissionType, Find]>(kinds)) {
      if (!holds(caller, permission)) continue;
      const found = await find(db, sought);
      data.push(...found.map(({ id, name }) => ({ kind, id, ...(name !== null && { name }) })));
    }
    return { data };
  },
});
