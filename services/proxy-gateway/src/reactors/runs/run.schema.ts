import { reactBody, reactorResult } from '../react.schema.ts';

export const reactAsyncBody = {
  ...reactBody,
  title: 'AsyncReaction',
  properties: {
    ...reactBody.properties,
    timeout_ms: {
      type: 'integer',
      minimum: 10_000,
      maximum: 210_000,
      default: 210_000,
      description: 'Duration of the run once it has begun, in milliseconds',
    },
  },
} as const;

export const asyncReaction = {
  title: 'AsyncReactionRequest',
  type: 'object',
  required: ['async_reactor_request_id'],
  properties: {
    async_reactor_request_id: {
      type: 'string',
      format: 'uuid',
      description: 'Names the run, in `/results/{requestId}`',
    },
  },
  examples: [{ async_reactor_request_id: '7c2b1d9e-0f4a-4c6e-9b1a-5d3e8f7a6c10' }],
} as const;

export const runParams = {
  type: 'object',
  required: ['id', 'requestId'],
  properties: { id: { type: 'string', format: 'uuid' }, requestId: { type: 'string', format: 'uuid' } },
} as const;

export const runResult = {
  ...reactorResult,
  title: 'AsyncReactorResult',
  description: 'As react answers, or `error` alone where the run has failed',
  properties: {
    ...reactorResult.properties,
    error: { type: 'object', description: 'The problem with which react would have been refused' },
  },
} as const;
