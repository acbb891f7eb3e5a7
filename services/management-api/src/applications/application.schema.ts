import { applicationTypes, containerPattern } from '@sluice/access';
import type { TypeOf } from '@sluice/http-api';
import { authorship, date, example, name, uuid } from '../resource.schema.ts';

const accessRuleCondition = {
  type: 'object',
  title: 'AccessRuleCondition',
  description: 'A condition that a token must satisfy for the rule to be used.',
  required: ['attribute', 'operator', 'value'],
  additionalProperties: false,
  properties: {
    attribute: { type: 'string', enum: ['id', 'container'], description: 'Attribute of the token' },
    operator: { type: 'string', enum: ['starts_with', 'equals'] },
    value: { type: 'string', maxLength: 400, description: 'Compared with the attribute' },
  },
} as const;

export const accessRule = {
  type: 'object',
  title: 'AccessRule',
  description:
    'Grants permissions on a container of tokens. Of the rules that grant an operation on a token, the one with the lowest `priority` decides.',
  required: ['priority', 'transform', 'permissions'],
  additionalProperties: false,
  properties: {
    description: { type: 'string', maxLength: 2000, description: 'Description of the rule' },
    priority: {
      type: 'integer',
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'Starts at 1; a higher value has lower precedence, and equal ones are decided by their position',
    },
    container: {
      type: 'string',
      maxLength: 400,
      pattern: containerPattern,
      description: 'Container of tokens, with all below it. Required for public and private Applications',
    },
    conditions: {
      type: 'array',
      items: accessRuleCondition,
      description: 'Only for sessions; excludes `container`. Applications have none',
    },
    transform: {
      type: 'string',
      enum: ['redact', 'mask', 'reveal'],
      description:
        'What token responses have in `data`: nothing (redact), the masked value or nothing where there is no mask (mask), the plaintext (reveal)',
    },
    permissions: {
      type: 'array',
      items: { type: 'string' },
      maxItems: 100,
      description: 'Permissions granted by the rule',
    },
  },
} as const;

const permissions = {
  type: 'array',
  items: { type: 'string' },
  maxItems: 100,
  default: [],
  description: 'Permissions granted, on tokens in every container. Not empty where `rules` is',
} as const;
const rules = {
  type: 'array',
  items: accessRule,
  maxItems: 1000,
  default: [],
  description: 'Access rules granted. Not empty where `permissions` is',
} as const;

const type = {
  type: 'string',
  enum: applicationTypes,
  description:
    'private: backend services that keep the key secret; public: browsers and mobile applications that collect data; management: the infrastructure',
} as const;

const allowedOrigins = {
  type: 'array',
  items: { type: 'string', maxLength: 300 },
  maxItems: 50,
  description:
    'Public Applications only. Pages of these origins, and no others, may use its keys and the sessions that they make, and may embed hosted fields; an empty list allows none. Without the member the installation decides (`CORS_ORIGINS`), and nobody embeds',
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
    expires_at: { ...date, description: 'The Application is deleted at this time, which must be in the future' },
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
      description: `${allowedOrigins.description}. A PUT that does not name it keeps it; null removes it`,
    },
  },
} as const;

export type CreateApplication = TypeOf<typeof createApplicationBody>;

export const application = {
  type: 'object',
  title: 'Application',
  description: 'The holder of an API key.',
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
    tenant_id: { ...uuid, description: 'Owning Tenant' },
    name,
    type,
    permissions: { type: 'array', items: { type: 'string' }, description: 'Permissions granted' },
    rules: { type: 'array', items: accessRule, description: 'Access rules granted' },
    allowed_origins: allowedOrigins,
    ...authorship,
    expires_at: { ...date, description: 'Moment at which the Application is deleted' },
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
    key: { type: 'string', description: 'The API key; shown here and never again' },
  },
} as const;
