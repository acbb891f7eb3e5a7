import { entityNames, verbs } from '@sluice/audit';
import { pageQuery } from '@sluice/http-api';
import { date, example, uuid } from '../resource.schema.ts';

const entityTypes = Object.keys(entityNames) as (keyof typeof entityNames)[];

const log = {
  type: 'object',
  title: 'Log',
  description: 'One row of the audit log: who did what, when, to which resource. It never has a value of a token.',
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
    tenant_id: { ...uuid, description: 'The Tenant of the log' },
    actor_id: { ...uuid, description: 'Id of the Application, session or user that acted. Absent if the system acted' },
    actor_type: {
      type: 'string',
      enum: ['application', 'session', 'user', 'system'],
      description: 'Type of the actor',
    },
    entity_type: { type: 'string', enum: entityTypes, description: 'Type of the resource' },
    entity_id: { type: 'string', description: 'Id of the resource' },
    operation: { type: 'string', enum: verbs, description: 'The operation' },
    message: { type: 'string', description: 'The operation as a sentence' },
    created_at: date,
    trace_id: { type: 'string', description: 'Trace id of the request' },
    detail: {
      type: 'object',
      description:
        "Further fields. `token_ids` are the ids of all tokens of the request. If a Proxy or reactor revealed values of tokens, the row also has `application_id` and `places`. `application_id` is the Application whose rights revealed the values. `places` lists where the values were used. The places `body`, `query`, `path` and `header:<name>` are parts of the request. The place `transform` means that a transform read the values. The place `code` means that the code of a reactor read the values. If a Proxy revealed the values, the row also has `destination_host` and `method`. If a route was called, the row also has `path_name`. If a call of a route reveals no value, its row has empty `token_ids`. `refused` lists the tokens that were not revealed. Each entry of `refused` has a `token_id` and a `member`. `member` is the field of the token's `use` that forbids the disclosure. `guard_hits` is the number of values that the `response_guard` of the Proxy found in the response. In a row with `guard_hits`, `token_ids` are the ids of the tokens whose values the guard found",
    },
  },
} as const;

export const logFilters = {
  entity_type: { type: 'string', enum: entityTypes, description: 'Lists only rows about resources of this type' },
  entity_id: { type: 'string', maxLength: 400, description: 'Lists only rows about the resource with this id' },
  actor_id: { ...uuid, description: 'Lists only rows in which this Application, session or user acted' },
  operation: { type: 'string', enum: verbs, description: 'Lists only rows with this operation' },
  token_id: {
    type: 'string',
    maxLength: 400,
    description:
      'Lists only rows about this token: creation, reads, changes, deletion, disclosures through Proxies and reactors, and refused uses',
  },
  trace_id: { type: 'string', maxLength: 64, description: 'Lists only rows with this trace id' },
  start_date: { ...date, description: 'Lists only rows from this time on' },
  end_date: { ...date, description: 'Lists only rows before this time' },
} as const;

export const listLogsQuery = {
  type: 'object',
  properties: {
    ...logFilters,
    ...pageQuery,
    start: {
      type: 'string',
      maxLength: 400,
      description: '`pagination.next` of the previous page. The response then has no totals',
    },
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
      description:
        '`leaf_index` of the first row. To continue an export, send the `leaf_index` of the last complete line, plus one',
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

const exampleNames = {
  [example.application_id]: 'Checkout',
  '7d0e8a55-6a0c-4a3e-9f35-0b8f2b1f6c11': 'Payment processor',
};

const pagination = { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 };

export const logPage = {
  type: 'object',
  title: 'LogPage',
  examples: [{ pagination, data: log.examples, names: exampleNames }],
  required: ['pagination', 'data', 'names'],
  properties: {
    pagination: {
      type: 'object',
      title: 'LogPagination',
      required: ['page_size'],
      properties: {
        total_items: { type: 'integer', description: 'Number of matching rows. Absent if `start` was sent' },
        total_is_lower_bound: {
          type: 'boolean',
          description: 'True if a filter matches more than 10,000 rows. Rows are counted only up to this number',
        },
        page_number: { type: 'integer', description: 'Number of this page, as requested. Absent if `start` was sent' },
        page_size: { type: 'integer', description: 'Results per page, as requested' },
        total_pages: { type: 'integer', description: 'Number of pages. Absent if `start` was sent' },
        next: { type: 'string', description: 'Send it as `start` to get the next page. Absent on the last page' },
      },
    },
    data: { type: 'array', items: log },
    names: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description:
        'Names of the Applications, keys, Proxies, reactors, formulas and people in the rows. Each field is an id, and its value is the name. The name of a person is the e-mail address. If a resource was renamed or deleted after the newest of these rows that has its id, the name is the one from the time of that row. A name is absent if it is not known, or if you do not have the permission to read the resource. For people this permission is `tenant:member:read`. Exports and proofs have no names, because names are not part of the rows',
    },
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
      display_name: { type: 'string', description: 'Name to show in user interfaces' },
      value: { type: 'string', description: 'Type of a resource, as in `entity_type` of a row of the audit log' },
    },
  },
  examples: [[{ display_name: 'Proxy', value: 'proxy' }]],
} as const;
