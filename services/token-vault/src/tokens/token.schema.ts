import { tokenInputSchema, tokenTypeNames } from '@sluice/vault';

/** Largest body in bytes: data may have 1 MiB, and the rest needs a place too. */
export const bodyLimitBytes = 1.25 * 1024 * 1024;

const uuid = { type: 'string', format: 'uuid' } as const;
const date = { type: 'string', format: 'iso-date', description: 'ISO 8601' } as const;

const card = {
  type: 'card',
  data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 },
} as const;
const metadata = { customer: 'c-1042' } as const;

export const tokenParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', description: 'The id of a token' } },
} as const;

export const createTokenBody = {
  ...tokenInputSchema,
  examples: [{ ...card, metadata }, { data: 'any JSON' }],
} as const;

export const token = {
  title: 'Token',
  description: 'Stands for a value that the vault keeps.',
  type: 'object',
  required: ['id', 'type', 'tenant_id', 'containers'],
  examples: [
    {
      id: '2e7f4a51-9b8e-4f6c-8d3a-1c5b0e9f7a24',
      type: 'card',
      tenant_id: '0c5f2a4e-8b1d-4a2c-9a55-3f6f0c7d2e11',
      data: { ...card.data, number: 'XXXXXXXXXXXX4242' },
      containers: ['/pci/high/'],
      metadata,
      created_by: '5b0c9a3e-2f64-4d0a-8a57-1d1f4c3b9e20',
      created_at: '2026-03-02T09:31:12.000Z',
    },
  ],
  properties: {
    id: { type: 'string', description: 'Unique in the Tenant' },
    type: { type: 'string', enum: tokenTypeNames, description: 'Decides validation, default container and mask' },
    tenant_id: { ...uuid, description: 'Owning Tenant' },
    data: { description: 'Plaintext, masked or absent, as the access rule that decides says' },
    mask: { description: 'JSON of expressions over data' },
    containers: { type: 'array', items: { type: 'string' }, description: 'Where it is; access rules go by it' },
    metadata: { type: 'object', additionalProperties: { type: 'string' }, description: 'Plaintext, never sensitive' },
    search_indexes: {
      type: 'array',
      items: { type: 'string' },
      description: 'Expressions whose values it is found by',
    },
    fingerprint: { type: 'string', description: 'Equal for tokens of the Tenant that are of one type and equal data' },
    fingerprint_expression: { type: 'string', description: 'Expression over data that the fingerprint is made of' },
    expires_at: { ...date, description: 'Moment at which the token is deleted' },
    created_by: { ...uuid, description: 'Application that created it' },
    created_at: date,
    modified_by: { ...uuid, description: 'Application that last modified it' },
    modified_at: date,
  },
} as const;
