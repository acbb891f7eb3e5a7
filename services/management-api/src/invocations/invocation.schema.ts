import { cursorQuery } from '@sluice/http-api';
import { date, example, uuid } from '../resource.schema.ts';

const proxyId = '3e9d1c52-7b0f-4a86-9c41-b5f20e6a8d73';

const invocation = {
  type: 'object',
  title: 'Invocation',
  description: 'What one invocation of a Proxy was. Never a body, a value, a path or a query.',
  required: ['trace_id', 'at', 'proxy_id', 'method', 'status', 'stages_ms', 'token_ids'],
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
  ],
  properties: {
    trace_id: { type: 'string' },
    at: { ...date, description: 'When its head had come' },
    proxy_id: uuid,
    application_id: { ...uuid, description: 'Whose key it had; of a session, the Application that authorized it' },
    method: { type: 'string' },
    status: { type: 'integer', description: 'What the caller was answered' },
    destination_status: {
      type: 'integer',
      description: 'What the destination answered; absent where it was not reached',
    },
    refused_by: {
      type: 'string',
      description: 'The code of the error that ended it, or `caller_gone` where the caller left',
    },
    stages_ms: {
      type: 'object',
      additionalProperties: { type: 'number' },
      description:
        'Milliseconds in `authenticate`, `detokenize`, `transform` and `destination`, as far as it came, and `total`',
    },
    token_ids: {
      type: 'array',
      items: { type: 'string' },
      description: 'Tokens whose values went into its body, the first 20. `GET /logs?trace_id=` has all',
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
        'The first lines that its transforms printed, redacted. Only for who holds proxy:update, and where the gateways log them',
    },
  },
} as const;

const skipped = {
  type: 'integer',
  description: 'How many invocations between those that are kept were left out, because there were too many at once',
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
        page_size: { type: 'integer', description: 'The `size` that was asked for' },
        next: { type: 'string', description: '`start` of the next page; absent on the last' },
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
    proxy_id: { ...uuid, description: 'Only of this Proxy' },
    application_id: { ...uuid, description: 'Only with a key of this Application' },
    status: { type: 'integer', minimum: 100, maximum: 999, description: 'Only those that were answered so' },
    trace_id: { type: 'string', maxLength: 64, description: 'Only under this trace id' },
    ...cursorQuery,
  },
} as const;
