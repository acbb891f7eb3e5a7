import { authorship, date, example, name, uuid } from '../resource.schema.ts';

const flag = { type: 'string', enum: ['true', 'false'] } as const;

const settings = {
  type: 'object',
  title: 'TenantSettings',
  description: 'Each value is the text `true` or `false`.',
  properties: {
    fingerprint_tokens: {
      ...flag,
      description:
        'Whether every token gets a fingerprint. If `false`, only tokens with their own `fingerprint_expression` get one',
    },
    deduplicate_tokens: {
      ...flag,
      description:
        'If `true`, a request to create a token returns the existing token if there is one with the same value. The status of the response is then 200. From this status, sessions and callers with public keys learn that a card or bank account is already stored. This is a risk: a person who knows the first eight and the last four digits of a card can find its number with a thousand tries',
    },
  },
} as const;

export const updateTenantBody = {
  type: 'object',
  title: 'UpdateTenant',
  required: ['name'],
  examples: [{ name: 'Production', settings: { deduplicate_tokens: 'true' } }],
  properties: { name, settings },
} as const;

export const tenant = {
  type: 'object',
  title: 'Tenant',
  description: 'A group of Applications and tokens. Its data is isolated from other Tenants.',
  examples: [
    {
      id: example.tenant_id,
      owner_id: '9d2b6e14-3c7f-4f0e-8a61-70c5b8e1d3a9',
      name: 'Production',
      settings: { fingerprint_tokens: 'true', deduplicate_tokens: 'false' },
      created_at: '2026-03-02T09:00:00.000Z',
    },
  ],
  required: ['id', 'owner_id', 'name', 'settings'],
  properties: {
    id: uuid,
    owner_id: { ...uuid, description: 'Id of the user that owns the Tenant' },
    name,
    settings,
    ...authorship,
  },
} as const;

export const usageReport = {
  type: 'object',
  title: 'TenantUsageReport',
  description: 'Numbers of tokens of the Tenant.',
  examples: [
    {
      token_report: {
        metrics_by_type: {
          token: { count: 120, last_created_at: '2026-03-02T09:30:00.000Z' },
          card: { count: 4021, last_created_at: '2026-03-02T09:31:12.000Z' },
          bank: { count: 0 },
        },
        included_monthly_active_tokens: 10_000,
        monthly_active_tokens: 1834,
      },
    },
  ],
  required: ['token_report'],
  properties: {
    token_report: {
      type: 'object',
      title: 'TokenReport',
      required: ['metrics_by_type', 'included_monthly_active_tokens', 'monthly_active_tokens'],
      properties: {
        metrics_by_type: {
          type: 'object',
          description: 'Number of tokens by type',
          additionalProperties: {
            type: 'object',
            title: 'TokenTypeMetrics',
            required: ['count'],
            properties: { count: { type: 'integer', description: 'Number of tokens' }, last_created_at: date },
          },
        },
        included_monthly_active_tokens: {
          type: 'integer',
          description: 'Monthly active tokens that the billing plan includes',
        },
        monthly_active_tokens: {
          type: 'integer',
          description: 'Tokens that were created, read or used in this UTC month',
        },
      },
    },
  },
} as const;
