import { tokenInputSchema, tokenTypeNames } from '@sluice/vault';

/** Largest body in bytes: data may have 1 MiB, and the rest needs a place too. */
export const bodyLimitBytes = 1.25 * 1024 * 1024;

const uuid = { type: 'string', format: 'uuid' } as const;
const date = { type: 'string', format: 'iso-date', description: 'ISO 8601' } as const;

export const tokenParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', description: 'The id of a token' } },
} as const;

export const createTokenBody = tokenInputSchema;

export const token = {
  title: 'Token',
  type: 'object',
  required: ['id', 'type', 'tenant_id', 'containers'],
  properties: {
    id: { type: 'string' },
    type: { type: 'string', enum: tokenTypeNames },
    tenant_id: uuid,
    data: { description: 'Plaintext, masked or absent, as the access rule that decides says' },
    mask: { description: 'JSON of expressions over data' },
    containers: { type: 'array', items: { type: 'string' } },
    metadata: { type: 'object', additionalProperties: { type: 'string' } },
    search_indexes: { type: 'array', items: { type: 'string' } },
    fingerprint: { type: 'string', description: 'Equal for tokens of the Tenant that are of one type and equal data' },
    fingerprint_expression: { type: 'string' },
    expires_at: date,
    created_by: uuid,
    created_at: date,
    modified_by: uuid,
    modified_at: date,
  },
} as const;
