import { detokenize, type Json, tokenize } from '@sluice/vault';
import { actorOf, operation } from '../context.ts';
import { bodyLimitBytes } from '../tokens/token.schema.ts';

const anyJson = { description: 'Any JSON' } as const;

export const tokenizeOperation = operation({
  id: 'tokenize',
  summary: 'Replace the values of a JSON document by tokens: objects with type and data, strings, numbers, booleans',
  method: 'post',
  path: '/tokenize',
  permission: 'token:create',
  body: anyJson,
  bodyLimitBytes,
  cors: true,
  response: { 200: anyJson },
  errors: ['conflict'],
  handle({ body, caller, traceId }, { vault }) {
    return tokenize(vault, actorOf(caller, traceId), body as Json);
  },
});

export const detokenizeOperation = operation({
  id: 'detokenize',
  idempotent: false,
  summary: 'Replace the expressions in a JSON document by the data of tokens, as the access rules give it',
  method: 'post',
  path: '/detokenize',
  permission: 'token:read',
  body: anyJson,
  bodyLimitBytes,
  response: { 200: anyJson },
  handle({ body, caller, traceId }, { vault }) {
    return detokenize(vault, actorOf(caller, traceId), body as Json);
  },
});

export const tokenizationOperations = [tokenizeOperation, detokenizeOperation];
