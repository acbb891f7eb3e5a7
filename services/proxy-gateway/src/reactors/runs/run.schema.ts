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
      description: 'Time limit of the run, from its start, in milliseconds',
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
      description: 'Id of the run, for `/results/{requestId}`',
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
  description: 'The response of react. If the run failed, only `error` is present',
  properties: {
    ...reactorResult.properties,
    error: { type: 'object', description: 'Why the run failed, in the format of an error response (`Problem`)' },
  },
} as const;
