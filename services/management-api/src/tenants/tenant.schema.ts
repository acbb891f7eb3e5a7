import { authorship, date, name, uuid } from '../resource.schema.ts';

const flag = { type: 'string', enum: ['true', 'false'] } as const;

const settings = {
  type: 'object',
  title: 'TenantSettings',
  properties: {
    fingerprint_tokens: { ...flag, description: 'Whether all tokens are fingerprinted' },
    deduplicate_tokens: { ...flag, description: 'Whether tokens are deduplicated' },
  },
} as const;

export const updateTenantBody = {
  type: 'object',
  title: 'UpdateTenant',
  required: ['name'],
  properties: { name, settings },
} as const;

export const tenant = {
  type: 'object',
  title: 'Tenant',
  required: ['id', 'owner_id', 'name', 'settings'],
  properties: { id: uuid, owner_id: uuid, name, settings, ...authorship },
} as const;

export const usageReport = {
  type: 'object',
  title: 'TenantUsageReport',
  required: ['token_report'],
  properties: {
    token_report: {
      type: 'object',
      required: ['metrics_by_type', 'included_monthly_active_tokens', 'monthly_active_tokens'],
      properties: {
        metrics_by_type: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            required: ['count'],
            properties: { count: { type: 'integer' }, last_created_at: date },
          },
        },
        included_monthly_active_tokens: { type: 'integer' },
        monthly_active_tokens: { type: 'integer', description: 'Tokens created, read or used in this UTC month' },
      },
    },
  },
} as const;
