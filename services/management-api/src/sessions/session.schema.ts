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
  description: 'Grants permissions on tokens. It has either `container` or `conditions`.',
  properties: {
    ...accessRule.properties,
    container: {
      ...accessRule.properties.container,
      description: 'The rule applies to tokens in this container and in all containers below it',
    },
    conditions: {
      ...accessRule.properties.conditions,
      maxItems: 10,
      description: 'The rule applies to tokens that satisfy all of these conditions',
    },
  },
} as const;

export const createdSession = {
  type: 'object',
  title: 'NewSession',
  description: 'A session that is not authorized yet.',
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
    session_key: {
      type: 'string',
      description:
        'Key of the session. After the session is authorized, send this key like an API key. The key is shown only here',
    },
    nonce: {
      type: 'string',
      description: 'Give this to the server that authorizes the session. It works once, and is shown only here',
    },
    expires_at: { ...date, description: 'If the session is not authorized by this time, it ends' },
  },
} as const;

export const authorizeSessionBody = {
  type: 'object',
  title: 'AuthorizeSession',
  required: ['nonce'],
  examples: [{ nonce: 'ExampleExampleExampleExampleExam', rules: [readsOne] }],
  properties: {
    nonce: { type: 'string', minLength: 1, maxLength: 200, description: 'The `nonce` of the session' },
    permissions: {
      type: 'array',
      items: { type: 'string' },
      maxItems: 100,
      default: [],
      description: 'Permissions on tokens (`token:*`) in every container. Must not be empty if `rules` is empty',
    },
    rules: {
      type: 'array',
      items: sessionRule,
      maxItems: 100,
      default: [],
      description: 'Rules that grant permissions on tokens. Must not be empty if `permissions` is empty',
    },
    proxies: {
      type: 'array',
      items: uuid,
      minItems: 1,
      maxItems: 100,
      description:
        'The only Proxies that the session may invoke. A call to another Proxy is 403. If you send `proxies` but not `reactors`, a call to any reactor is 403, too',
    },
    reactors: {
      type: 'array',
      items: uuid,
      minItems: 1,
      maxItems: 100,
      description:
        'The only reactors that the session may call. A call to another reactor is 403. If you send `reactors` but not `proxies`, a call to any Proxy is 403, too',
    },
    fields: {
      type: 'boolean',
      description:
        'If true, the session must have been created by a frame of the hosted fields. If it was created in another way, the response is 403. For hosted fields, always send true. If you do not, a hostile script in the page could create a session itself, and have your server authorize it',
    },
    address: {
      type: 'string',
      maxLength: 60,
      description:
        'IP address from which the session must have been created. If it was created from another address, the response is 403. Your server can send the address from which the browser is connected to your server. Do this only if the browser reaches Sluice from the same address',
    },
    expires_at: {
      ...date,
      description: 'When the session ends, at most 24 hours from now. Default: three minutes after it was created',
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
    application_id: { ...uuid, description: 'The public Application that created the session' },
    authorized_by: { ...uuid, description: 'The private Application that authorized the session' },
    permissions: { type: 'array', items: { type: 'string' } },
    rules: { type: 'array', items: sessionRule },
    proxies: { type: 'array', items: uuid, description: 'The session may invoke only these Proxies' },
    reactors: { type: 'array', items: uuid, description: 'The session may call only these reactors' },
    fields: { type: 'boolean', description: 'True if the session was authorized for hosted fields' },
    address: {
      type: 'string',
      description:
        'IP address from which the session was created. Present only if the request that authorized the session contained `address`',
    },
    created_at: date,
    expires_at: { ...date, description: 'When the session ends' },
  },
} as const;
