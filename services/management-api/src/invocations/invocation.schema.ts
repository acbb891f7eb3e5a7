import { cursorQuery, statusPattern } from '@sluice/http-api';
import { date, example, uuid } from '../resource.schema.ts';

const proxyId = '3e9d1c52-7b0f-4a86-9c41-b5f20e6a8d73';
const reactorId = 'b7d0a8e4-1c5f-4b7e-8a3d-6e2f9c0b1d54';

const invocation = {
  type: 'object',
  title: 'Invocation',
  description:
    'One invocation of a Proxy, or one run of a reactor. It never has a body, a value, a path or a query. It has either `proxy_id` or `reactor_id`.',
  required: ['trace_id', 'at', 'method', 'status', 'stages_ms', 'token_ids'],
  examples: [
    {
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      at: '2026-03-02T09:30:00.000Z',
      proxy_id: proxyId,
      application_id: example.application_id,
      method: 'POST',
      status: 200,
      destination_status: 200,
      stages_ms: { authenticate: 0.12, detokenize: 0.9, destination: 41.3, total: 42.6 },
      token_ids: ['c1d6b3a0-5d1f-4e8c-8f0e-2b7a9c3d4e5f'],
    },
    {
      trace_id: '9c1f0e7a5b3d4826a1c0d2e4f6b8a097',
      at: '2026-03-02T09:29:58.000Z',
      reactor_id: reactorId,
      application_id: example.application_id,
      method: 'POST',
      status: 500,
      refused_by: 'reactor_failed',
      stages_ms: { detokenize: 0.9, code: 12.4, total: 14.1 },
      token_ids: [],
    },
  ],
  properties: {
    trace_id: { type: 'string' },
    at: {
      ...date,
      description: 'When the head of the request was received. For a run of react-async, when the run started',
    },
    proxy_id: { ...uuid, description: 'Proxy that was called. Absent in a run of a reactor' },
    reactor_id: { ...uuid, description: 'Reactor that ran. Absent in an invocation of a Proxy' },
    application_id: {
      ...uuid,
      description: 'Application of the key. For a call with a session, the Application that authorized the session',
    },
    method: { type: 'string', description: '`POST` in a run of a reactor' },
    status: {
      type: 'integer',
      description:
        'Status that the caller got. For a run of react-async, it is 200 if the run succeeded, and otherwise the status of the error',
    },
    destination_status: {
      type: 'integer',
      description: 'Status of the destination. Absent if the destination sent no response, and in a run of a reactor',
    },
    refused_by: {
      type: 'string',
      description: 'Error code, or `caller_gone` if the caller closed the connection. Absent if there was no error',
    },
    detail: {
      type: 'string',
      description:
        'Why the destination sent no usable response, for example because its name was not found. The caller got the same text as `detail` of the error. Present only if `refused_by` begins with `destination_`',
    },
    stages_ms: {
      type: 'object',
      additionalProperties: { type: 'number' },
      description:
        'Durations in milliseconds: the `total`, and each stage that was reached. The stages are `authenticate`, `detokenize`, `transform` and `destination`. A run of a reactor has `code` instead of `transform`',
    },
    token_ids: {
      type: 'array',
      items: { type: 'string' },
      description: 'Ids of the first 20 tokens whose values were sent. For all tokens use `GET /logs?trace_id=`',
    },
    guard_hits: {
      type: 'integer',
      minimum: 1,
      description:
        'Number of values that the `response_guard` of the Proxy found in the response. A value that occurs twice counts twice. Absent if the guard found no value',
    },
    guard_token_ids: {
      type: 'array',
      items: { type: 'string' },
      description:
        'Ids of the tokens whose values the guard found, at most 20. Empty if the guard found only values of the `configuration` of the Proxy. Absent if the guard found no value',
    },
    console: {
      type: 'array',
      items: {
        type: 'object',
        title: 'InvocationConsoleLine',
        required: ['level', 'text'],
        properties: { level: { type: 'string' }, text: { type: 'string' } },
      },
      description:
        'The first console lines of the transforms, or of the code of the reactor, without known secrets. Present only if the setting `TRANSFORM_CONSOLE` is `redacted` and you have the permission to read these lines. For a call of a Proxy this permission is `proxy:update`. For a run of a reactor it is `reactor:update`',
    },
  },
} as const;

const skipped = {
  type: 'integer',
  description:
    'Number of invocations that are missing in this list, because a gateway had more than it can send at once',
} as const;

export const invocationPage = {
  type: 'object',
  title: 'InvocationPage',
  examples: [{ pagination: { page_size: 20 }, data: invocation.examples, skipped: 0 }],
  required: ['pagination', 'data', 'skipped'],
  properties: {
    pagination: {
      type: 'object',
      title: 'InvocationPagination',
      required: ['page_size'],
      properties: {
        page_size: { type: 'integer', description: 'Results per page, as requested' },
        next: { type: 'string', description: 'Send it as `start` to get the next page. Absent on the last page' },
      },
    },
    data: { type: 'array', items: invocation },
    skipped,
  },
} as const;

export const invocationEvents = {
  type: 'string',
  examples: [
    `id: 1772443800000-0\nevent: invocation\ndata: ${JSON.stringify(invocation.examples[0])}\n\nevent: skipped\ndata: {"skipped":12}\n\n`,
  ],
} as const;

export const listInvocationsQuery = {
  type: 'object',
  properties: {
    proxy_id: { ...uuid, description: 'Lists only invocations of this Proxy' },
    reactor_id: { ...uuid, description: 'Lists only runs of this reactor' },
    application_id: { ...uuid, description: 'Lists only invocations with a key of this Application' },
    status: {
      type: ['string', 'integer'],
      pattern: statusPattern,
      description:
        'Lists only invocations with this status, such as `404`, or with a status of this class: `2xx`, `3xx`, `4xx` or `5xx`',
    },
    trace_id: { type: 'string', maxLength: 64, description: 'Lists only invocations with this trace id' },
    ...cursorQuery,
  },
} as const;
