import { applicationTypes, containerPattern } from '@sluice/access';
import type { TypeOf } from '@sluice/http-api';
import { authorship, date, example, name, uuid } from '../resource.schema.ts';

const accessRuleCondition = {
  type: 'object',
  title: 'AccessRuleCondition',
  description: 'A condition of a rule. The rule applies only to tokens that satisfy it.',
  required: ['attribute', 'operator', 'value'],
  additionalProperties: false,
  properties: {
    attribute: {
      type: 'string',
      enum: ['id', 'container'],
      description: 'The attribute of the token that is compared',
    },
    operator: { type: 'string', enum: ['starts_with', 'equals'] },
    value: { type: 'string', maxLength: 400, description: 'The text that the attribute is compared with' },
  },
} as const;

export const accessRule = {
  type: 'object',
  title: 'AccessRule',
  description:
    'Grants permissions on a container of tokens. If several rules grant an operation on a token, the one with the lowest `priority` number applies.',
  required: ['priority', 'transform', 'permissions'],
  additionalProperties: false,
  properties: {
    description: { type: 'string', maxLength: 2000, description: 'What the rule is for' },
    priority: {
      type: 'integer',
      minimum: 1,
      maximum: 2_147_483_647,
      description:
        'Order of the rules, from 1. A rule with a lower number comes first. With equal numbers, the position in the list decides',
    },
    container: {
      type: 'string',
      maxLength: 400,
      pattern: containerPattern,
      description:
        'The rule applies to tokens in this container and in all containers below it. Required for public and private Applications',
    },
    conditions: {
      type: 'array',
      items: accessRuleCondition,
      description:
        'Allowed only for sessions, and not together with `container`. The rule applies to tokens that satisfy all conditions',
    },
    transform: {
      type: 'string',
      enum: ['redact', 'mask', 'reveal'],
      description:
        'What `data` of a token contains in responses. `redact`: nothing. `mask`: the masked value, or nothing if the token has no mask. `reveal`: the plaintext',
    },
    permissions: {
      type: 'array',
      items: { type: 'string' },
      maxItems: 100,
      description: 'Permissions that the rule grants',
    },
  },
} as const;

const permissions = {
  type: 'array',
  items: { type: 'string' },
  maxItems: 100,
  default: [],
  description:
    'Permissions of the Application. Permissions on tokens apply to every container. Must not be empty if `rules` is empty',
} as const;
const rules = {
  type: 'array',
  items: accessRule,
  maxItems: 1000,
  default: [],
  description: 'Rules that grant permissions on containers of tokens. Must not be empty if `permissions` is empty',
} as const;

const type = {
  type: 'string',
  enum: applicationTypes,
  description:
    '`private`: backend services that keep the key secret. `public`: browsers and mobile applications that collect data. `management`: tools that manage the Tenant',
} as const;

const allowedOrigins = {
  type: 'array',
  items: { type: 'string', maxLength: 300 },
  maxItems: 50,
  description:
    'Only for public Applications. Only pages of these origins may use the keys of the Application and the sessions of these keys. Only these pages may embed hosted fields. An empty list allows no page. If the Application has no list, the setting `CORS_ORIGINS` of the installation decides which pages may use its keys and sessions. Without a list, no page may embed hosted fields',
} as const;

const proxies = {
  type: 'array',
  items: uuid,
  minItems: 1,
  maxItems: 100,
  description:
    'Only for private Applications. The keys of the Application, and the sessions that the Application authorizes, can call only the Proxies in this list, and no reactors. Other calls are 403. The id of a deleted Proxy stays in the list and allows nothing. The list restricts only callers. A Proxy whose `application` is this Application has the rights of the Application, even if the Proxy is not in the list. If the Application has no list, its keys and sessions can call all Proxies and reactors',
} as const;

const readsCardsMasked = {
  description: 'Reads cards masked',
  priority: 1,
  container: '/pci/',
  transform: 'mask',
  permissions: ['token:read'],
} as const;
const granted = { permissions: ['token:create', 'token:use'], rules: [readsCardsMasked] } as const;

export const createApplicationBody = {
  type: 'object',
  title: 'CreateApplication',
  required: ['name', 'type'],
  examples: [{ name: 'Checkout backend', type: 'private', ...granted }],
  properties: {
    name,
    type,
    permissions,
    rules,
    allowed_origins: allowedOrigins,
    proxies,
    expires_at: {
      ...date,
      description: 'When the Application is deleted. The time must be in the future. Default: never',
    },
  },
} as const;

export const updateApplicationBody = {
  type: 'object',
  title: 'UpdateApplication',
  required: ['name'],
  examples: [{ name: 'Checkout backend', ...granted }],
  properties: {
    name,
    permissions,
    rules,
    allowed_origins: {
      ...allowedOrigins,
      type: ['array', 'null'],
      description: `${allowedOrigins.description}. If the request has no \`allowed_origins\`, the list does not change. Null removes the list`,
    },
    proxies: {
      ...proxies,
      type: ['array', 'null'],
      description: `${proxies.description}. If the request has no \`proxies\`, the list does not change. Null removes the list`,
    },
  },
} as const;

export type CreateApplication = TypeOf<typeof createApplicationBody>;

export const application = {
  type: 'object',
  title: 'Application',
  description: 'Holds API keys. Its permissions and rules decide what callers with these keys may do.',
  required: ['id', 'tenant_id', 'name', 'type', 'permissions', 'rules'],
  examples: [
    {
      id: example.application_id,
      tenant_id: example.tenant_id,
      name: 'Checkout backend',
      type: 'private',
      ...granted,
      ...example.authorship,
    },
  ],
  properties: {
    id: uuid,
    tenant_id: { ...uuid, description: 'Id of the Tenant' },
    name,
    type,
    permissions: { type: 'array', items: { type: 'string' }, description: 'Permissions of the Application' },
    rules: { type: 'array', items: accessRule, description: 'Rules that grant permissions on containers of tokens' },
    allowed_origins: allowedOrigins,
    proxies,
    ...authorship,
    expires_at: { ...date, description: 'When the Application is deleted' },
  },
} as const;

export const applicationWithKey = {
  ...application,
  title: 'ApplicationWithKey',
  description: 'An Application with its API key.',
  examples: [{ ...application.examples[0], key: 'svc_live_prv_ExampleExampleExampleExampleExampleExampleExampl0000' }],
  required: [...application.required, 'key'],
  properties: {
    ...application.properties,
    key: { type: 'string', description: 'The API key. It is shown only once' },
  },
} as const;
