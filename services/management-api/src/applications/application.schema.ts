import { applicationTypes, containerPattern } from '@sluice/access';
import type { TypeOf } from '@sluice/http-api';
import { authorship, date, name, uuid } from '../resource.schema.ts';

const accessRuleCondition = {
  type: 'object',
  title: 'AccessRuleCondition',
  required: ['attribute', 'operator', 'value'],
  additionalProperties: false,
  properties: {
    attribute: { type: 'string', enum: ['id', 'container'] },
    operator: { type: 'string', enum: ['starts_with', 'equals'] },
    value: { type: 'string' },
  },
} as const;

export const accessRule = {
  type: 'object',
  title: 'AccessRule',
  required: ['priority', 'transform', 'permissions'],
  additionalProperties: false,
  properties: {
    description: { type: 'string', maxLength: 2000 },
    priority: {
      type: 'integer',
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'A higher value has lower precedence',
    },
    container: { type: 'string', maxLength: 400, pattern: containerPattern },
    conditions: { type: 'array', items: accessRuleCondition },
    transform: { type: 'string', enum: ['redact', 'mask', 'reveal'] },
    permissions: { type: 'array', items: { type: 'string' }, maxItems: 100 },
  },
} as const;

const permissions = { type: 'array', items: { type: 'string' }, maxItems: 100, default: [] } as const;
const rules = { type: 'array', items: accessRule, maxItems: 1000, default: [] } as const;

export const createApplicationBody = {
  type: 'object',
  title: 'CreateApplication',
  required: ['name', 'type'],
  properties: {
    name,
    type: { type: 'string', enum: applicationTypes },
    permissions,
    rules,
    expires_at: { ...date, description: 'The Application is deleted at this time' },
  },
} as const;

export const updateApplicationBody = {
  type: 'object',
  title: 'UpdateApplication',
  required: ['name'],
  properties: { name, permissions, rules },
} as const;

export type CreateApplication = TypeOf<typeof createApplicationBody>;

export const application = {
  type: 'object',
  title: 'Application',
  required: ['id', 'tenant_id', 'name', 'type', 'permissions', 'rules'],
  properties: {
    id: uuid,
    tenant_id: uuid,
    name,
    type: { type: 'string', enum: applicationTypes },
    permissions: { type: 'array', items: { type: 'string' } },
    rules: { type: 'array', items: accessRule },
    ...authorship,
    expires_at: date,
  },
} as const;

export const applicationWithKey = {
  ...application,
  title: 'ApplicationWithKey',
  required: [...application.required, 'key'],
  properties: {
    ...application.properties,
    key: { type: 'string', description: 'The API key; shown here and never again' },
  },
} as const;
