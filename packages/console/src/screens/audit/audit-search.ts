import type { ListLogsData } from '@sluice/sdk';
import { textSearch } from '../../app/page-search.ts';

type Query = NonNullable<ListLogsData['query']>;
export type EntityType = NonNullable<Query['entity_type']>;
export type Operation = NonNullable<Query['operation']>;

export const entityTypes: Readonly<Record<EntityType, string>> = {
  token: 'Token',
  application: 'Application',
  proxy: 'Proxy',
  reactor: 'Reactor',
  reactor_formula: 'Formula',
  reactor_run: 'Reactor run',
  session: 'Session',
  tenant: 'Tenant',
  member: 'Member',
  invitation: 'Invitation',
  user: 'User',
};

export const operations: Readonly<Record<Operation, string>> = {
  create: 'Created',
  read: 'Read',
  use: 'Used',
  update: 'Updated',
  delete: 'Deleted',
  regenerate: 'Keys replaced',
  authorize: 'Authorized',
  expire: 'Expired',
  sign_in: 'Signed in',
  accept: 'Accepted',
};

const texts = ['entity_id', 'actor_id', 'token_id', 'trace_id', 'start_date', 'end_date', 'start'] as const;

/** The filters of the list and where its page begins, by the names that the API gives them. */
export type AuditSearch = Partial<Record<(typeof texts)[number], string>> & {
  entity_type?: EntityType;
  operation?: Operation;
};

export function auditSearch(search: Record<string, unknown>): AuditSearch {
  const { entity_type: entityType, operation } = search;
  return {
    ...textSearch(search, texts),
    ...(isOneOf(entityTypes, entityType) && { entity_type: entityType }),
    ...(isOneOf(operations, operation) && { operation }),
  };
}

function isOneOf<Name extends string>(names: Readonly<Record<Name, string>>, value: unknown): value is Name {
  return typeof value === 'string' && Object.hasOwn(names, value);
}
