import type { TypeOf } from '@sluice/http-api';
import { accessRule } from '../applications/application.schema.ts';
import { date, example, uuid } from '../resource.schema.ts';

const sessionId = '9d2c7f1a-3b64-4e58-8a0f-6c1e5d4b7a93';
const readsOne = {
  priority: 1,
  conditions: [{ attribute: 'id', operator: 'equals', value: '2e7f4a51-9b8e-4f6c-8d3a-1c5b0e9f7a24' }],
  transform: 'reveal',
  permissions: ['token:read'],
} as const;

const sessionRule = {
  ...accessRule,
  title: 'SessionRule',
  description:
    'Grants permissions on tokens: exactly one of `container` and non-empty `conditions`, of which all must hold.',
  properties: {
    ...accessRule.properties,
    container: { ...accessRule.properties.container, description: 'Container of tokens, with all below it' },
    conditions: { ...accessRule.properties.conditions, maxItems: 10, description: 'All of them must hold' },
  },
} as const;

export const createdSession = {
  type: 'object',
  title: 'NewSession',
  description: 'A session that waits to be authorized.',
  required: ['id', 'session_key', 'nonce', 'expires_at'],
  examples: [
    {
      id: sessionId,
      session_key: 'svc_live_ses_ExampleExampleExampleExampleExampleExampleExampl0000',
      nonce: 'ExampleExampleExampleExampleExam',
      expires_at: '2026-03-02T09:33:00.000Z',
    },
  ],
  properties: {
    id: uuid,
    session_key: { type: 'string', description: 'Goes where an API key goes, once it is authorized; shown only here' },
    nonce: { type: 'string', description: 'For the server that authorizes it; shown only here, good once' },
    expires_at: { ...date, description: 'Until then it waits' },
  },
} as const;

export const authorizeSessionBody = {
  type: 'object',
  title: 'AuthorizeSession',
  required: ['nonce'],
  examples: [{ nonce: 'ExampleExampleExampleExampleExam', rules: [readsOne] }],
  properties: {
    nonce: { type: 'string', minLength: 1, maxLength: 200, description: 'Of the session' },
    permissions: {
      type: 'array',
      items: { type: 'string' },
      maxItems: 100,
      default: [],
      description: 'Any `token:*`, on tokens in every container. Not empty where `rules` is',
    },
    rules: {
      type: 'array',
      items: sessionRule,
      maxItems: 100,
      default: [],
      description: 'Not empty where `permissions` is',
    },
    proxies: {
      type: 'array',
      items: uuid,
      minItems: 1,
      maxItems: 100,
      description:
        'Ids of the only Proxies that the session may invoke; every other is 403, and every reactor that `reactors` does not name',
    },
    reactors: {
      type: 'array',
      items: uuid,
      minItems: 1,
      maxItems: 100,
      description:
        'Ids of the only reactors that the session may call; every other is 403, and every Proxy that `proxies` does not name',
    },
    fields: {
      type: 'boolean',
      description:
        'true: only a session that a frame of the hosted fields made, otherwise 403. Always send it for fields: the page that passes the nonce on may run a hostile script, which has a session of its own',
    },
    address: {
      type: 'string',
      maxLength: 60,
      description:
        'IP address that the session must have been made from, otherwise 403: of the person, where your server and the installation see the same one',
    },
    expires_at: {
      ...date,
      description: 'When the session ends, at most 24 hours ahead; default: three minutes after it was made',
    },
  },
} as const;

export type AuthorizeSession = TypeOf<typeof authorizeSessionBody>;

export const session = {
  type: 'object',
  title: 'Session',
  description: 'A short-lived credential of a browser, a device or a program.',
  required: ['id', 'state', 'application_id', 'permissions', 'rules', 'created_at', 'expires_at'],
  examples: [
    {
      id: sessionId,
      state: 'authorized',
      application_id: example.application_id,
      authorized_by: example.authorship.created_by,
      permissions: [],
      rules: [readsOne],
      created_at: example.authorship.created_at,
      expires_at: '2026-03-02T09:33:00.000Z',
    },
  ],
  properties: {
    id: uuid,
    state: { type: 'string', enum: ['waiting', 'authorized'] },
    application_id: { ...uuid, description: 'The public Application that made it' },
    authorized_by: { ...uuid, description: 'The private Application that authorized it' },
    permissions: { type: 'array', items: { type: 'string' } },
    rules: { type: 'array', items: sessionRule },
    proxies: { type: 'array', items: uuid, description: 'The only Proxies that it may invoke' },
    reactors: { type: 'array', items: uuid, description: 'The only reactors that it may call' },
    fields: { type: 'boolean', description: 'true: authorized as a session of the hosted fields' },
    address: { type: 'string', description: 'The IP address that it was made from, where it was authorized for one' },
    created_at: date,
    expires_at: { ...date, description: 'When it ends' },
  },
} as const;
