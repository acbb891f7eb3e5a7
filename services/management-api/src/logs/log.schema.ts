import { entityNames, verbs } from '@sluice/audit';
import { pageQuery } from '@sluice/http-api';
import { date, example, uuid } from '../resource.schema.ts';

const entityTypes = Object.keys(entityNames) as (keyof typeof entityNames)[];

const log = {
  type: 'object',
  title: 'Log',
  description: 'One row of the audit log: who did what to which thing, when. Never a value.',
  examples: [
    {
      id: '019b7f6a-52c4-7d1e-9a0b-5c2f4e8d1a37',
      tenant_id: example.tenant_id,
      actor_id: example.application_id,
      actor_type: 'application',
      entity_type: 'proxy',
      entity_id: '7d0e8a55-6a0c-4a3e-9f35-0b8f2b1f6c11',
      operation: 'use',
      message: 'Proxy used',
      created_at: '2026-03-02T09:30:00.000Z',
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      detail: {
        token_ids: ['c1d6b3a0-5d1f-4e8c-8f0e-2b7a9c3d4e5f'],
        destination_host: 'api.example.com',
        application_id: example.application_id,
        method: 'POST',
        places: ['body'],
      },
    },
  ],
  required: ['id', 'tenant_id', 'actor_type', 'entity_type', 'entity_id', 'operation', 'message', 'created_at'],
  properties: {
    id: uuid,
    tenant_id: { ...uuid, description: 'The Tenant whose log it is' },
    actor_id: { ...uuid, description: 'Who acted; absent where the system did' },
    actor_type: { type: 'string', enum: ['application', 'session', 'user', 'system'], description: 'What acted' },
    entity_type: { type: 'string', enum: entityTypes, description: 'What was acted on' },
    entity_id: { type: 'string', description: 'Id of the thing that was acted on' },
    operation: { type: 'string', enum: verbs, description: 'What was done' },
    message: { type: 'string', description: 'The same for people' },
    created_at: date,
    trace_id: { type: 'string', description: 'Of the request' },
    detail: {
      type: 'object',
      description:
        'What else helps to understand it. `token_ids` are all tokens of the request; a disclosure through a Proxy or reactor has `application_id` and `places` too, which are `transform` where a transform asked for the values and `code` where the code of a reactor did; through a Proxy also `destination_host` and `method`',
    },
  },
} as const;

export const logFilters = {
  entity_type: { type: 'string', enum: entityTypes, description: 'Only what was done to things of this type' },
  entity_id: { type: 'string', maxLength: 400, description: 'Only what was done to this thing' },
  actor_id: { ...uuid, description: 'Only what this Application, session or user did' },
  operation: { type: 'string', enum: verbs, description: 'Only this' },
  token_id: {
    type: 'string',
    maxLength: 400,
    description:
      'Only what touched this token: creation, reads, changes, deletion, and disclosures through Proxies and reactors',
  },
  trace_id: { type: 'string', maxLength: 64, description: 'Only what was done under this trace id' },
  start_date: { ...date, description: 'From this moment on' },
  end_date: { ...date, description: 'Before this moment' },
} as const;

export const listLogsQuery = {
  type: 'object',
  properties: {
    ...logFilters,
    ...pageQuery,
    start: { type: 'string', maxLength: 400, description: 'The `next` of a page before; then there are no totals' },
  },
} as const;

export const exportQuery = {
  type: 'object',
  properties: {
    ...logFilters,
    start: {
      type: 'integer',
      minimum: 0,
      maximum: 9_007_199_254_740_991,
      default: 0,
      description: 'The `leaf_index` of the first row: one more than that of the last row which has come',
    },
  },
} as const;

const leaf = {
  leaf_version: 1,
  leaf_index: 41,
  leaf_hash: '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
};

export const exportText = {
  type: 'string',
  examples: [`${JSON.stringify({ ...log.examples[0], ...leaf })}\n`],
} as const;

const pagination = { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 };

export const logPage = {
  type: 'object',
  title: 'LogPage',
  examples: [{ pagination, data: log.examples }],
  required: ['pagination', 'data'],
  properties: {
    pagination: {
      type: 'object',
      title: 'LogPagination',
      required: ['page_size'],
      properties: {
        total_items: { type: 'integer', description: 'How many rows match; absent with `start`' },
        total_is_lower_bound: {
          type: 'boolean',
          description: 'True where a filter matches more than 10,000 rows, which are not counted further',
        },
        page_number: { type: 'integer', description: 'The `page` that was asked for; absent with `start`' },
        page_size: { type: 'integer', description: 'The `size` that was asked for' },
        total_pages: { type: 'integer', description: 'How many pages there are; absent with `start`' },
        next: { type: 'string', description: 'The `start` of the next page; absent on the last' },
      },
    },
    data: { type: 'array', items: log },
  },
} as const;

export const entityTypeList = {
  type: 'array',
  items: {
    type: 'object',
    title: 'EntityType',
    examples: [{ display_name: 'Proxy', value: 'proxy' }],
    required: ['display_name', 'value'],
    properties: {
      display_name: { type: 'string', description: 'What people call it' },
      value: { type: 'string', description: 'What `entity_type` is' },
    },
  },
  examples: [[{ display_name: 'Proxy', value: 'proxy' }]],
} as const;
