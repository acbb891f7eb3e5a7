import { created, Reply } from '@sluice/http-api';
import { createToken, deleteToken, findToken } from '@sluice/vault';
import { actorOf, operation } from '../context.ts';
import { bodyLimitBytes, createTokenBody, token, tokenParams } from './token.schema.ts';

export const createTokenOperation = operation({
  id: 'createToken',
  tag: 'Tokens',
  summary: 'Create a token; 200 with the equal one that exists where tokens are deduplicated',
  description:
    'Creating in a container needs `token:create` on it. Where tokens are deduplicated (by the Tenant or by `deduplicate_token`) and an equal one exists, that one is answered with 200; a caller that may not read it gets no more than its id, type, tenant_id, fingerprint and containers.',
  method: 'post',
  path: '/tokens',
  permission: 'token:create',
  body: createTokenBody,
  bodyLimitBytes,
  opaque: ['data'],
  cors: true,
  response: { 201: token, 200: token },
  errors: ['conflict'],
  async handle({ body, caller, traceId }, { vault }) {
    const result = await createToken(vault, actorOf(caller, traceId), body);
    return result.created ? created('/tokens', result.token) : new Reply(200, result.token);
  },
});

export const getToken = operation({
  id: 'getToken',
  tag: 'Tokens',
  summary: 'Get a token; its data as the access rule that decides gives it',
  description:
    '`data` is redacted, masked or revealed, as the access rule that decides says; under a flat permission it is masked.',
  method: 'get',
  path: '/tokens/:id',
  permission: 'token:read',
  params: tokenParams,
  response: { 200: token },
  errors: ['not_found'],
  handle({ params, caller, traceId }, { vault }) {
    return findToken(vault, actorOf(caller, traceId), params.id);
  },
});

export const deleteTokenOperation = operation({
  id: 'deleteToken',
  tag: 'Tokens',
  summary: 'Delete a token',
  method: 'delete',
  path: '/tokens/:id',
  permission: 'token:delete',
  params: tokenParams,
  response: { 204: null },
  errors: ['not_found'],
  handle({ params, caller, traceId }, { vault }) {
    return deleteToken(vault, actorOf(caller, traceId), params.id);
  },
});

export const tokenOperations = [createTokenOperation, getToken, deleteTokenOperation];
