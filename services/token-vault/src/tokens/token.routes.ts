import { created, Reply } from '@sluice/http-api';
import { createToken, deleteToken, findToken } from '@sluice/vault';
import { actorOf, operation } from '../context.ts';
import { bodyLimitBytes, createTokenBody, token, tokenParams } from './token.schema.ts';

export const createTokenOperation = operation({
  id: 'createToken',
  summary: 'Create a token; 200 with the equal one that exists where tokens are deduplicated',
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
  summary: 'Get a token; its data as the access rule that decides gives it',
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
