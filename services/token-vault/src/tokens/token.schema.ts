import { cursorQuery, pageQuery } from '@sluice/http-api';
import { tokenInputSchema, tokenPatchSchema, tokenTypeNames } from '@sluice/vault';

/** Largest body: 1 MiB of data, and space for the other members. */
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

export const patchTokenBody = {
  ...tokenPatchSchema,
  examples: [{ data: { expiration_year: 2031 }, metadata: { customer: 'c-1043', note: null } }],
} as const;

const tokenFilter = {
  id: {
    type: 'array',
    items: { type: 'string' },
    maxItems: 1000,
    description: 'Only these ids; repeated or separated by commas',
  },
  type: {
    type: 'array',
    items: { type: 'string', enum: tokenTypeNames },
    description: 'Only these types; repeated or separated by commas',
  },
} as const;

const metadataPattern = { '^metadata\\.': { type: 'string' } } as const;

export const listTokensQuery = {
  type: 'object',
  properties: { ...tokenFilter, ...pageQuery },
  patternProperties: metadataPattern,
} as const;

export const walkTokensQuery = {
  type: 'object',
  properties: { ...tokenFilter, ...cursorQuery },
  patternProperties: metadataPattern,
} as const;

export function metadataFilter(query: Readonly<Record<string, unknown>>): Record<string, string> {
  const prefix = 'metadata.';
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      name.startsWith(prefix) && typeof value === 'string' ? [[name.slice(prefix.length), value]] : [],
    ),
  );
}

export const searchTokensBody = {
  title: 'SearchTokens',
  type: 'object',
  required: ['query'],
  examples: [
    { query: 'type:card AND metadata.customer:"c-1042"' },
    { query: 'container:/pci/* AND NOT (data:4242 OR created_at:[2026-01-01 TO 2026-01-31])', page: 1, size: 50 },
  ],
  properties: {
    query: { type: 'string', maxLength: 200, description: 'Comparisons with AND, OR, NOT and parentheses' },
    ...pageQuery,
  },
} as const;

export const walkFoundTokensBody = {
  title: 'WalkFoundTokens',
  type: 'object',
  required: ['query'],
  examples: [{ query: 'type:card AND metadata.customer:"c-1042"', size: 50 }],
  properties: { query: searchTokensBody.properties.query, ...cursorQuery },
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
    type: {
      type: 'string',
      enum: tokenTypeNames,
      description:
        'Decides validation, default container and mask. `card` and `card_number` take 12 to 19 digits with a check digit (Luhn), and numbers of UnionPay (62, 81) without',
    },
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
    fingerprint: {
      type: 'string',
      description:
        'Equal for equal data of one type and `fingerprint_expression` in the Tenant. Compare no others, because each creator chooses its own expression',
    },
    fingerprint_expression: { type: 'string', description: 'Expression over data that the fingerprint is made of' },
    expires_at: { ...date, description: 'Moment at which the token is deleted' },
    created_by: { ...uuid, description: 'Application that created it' },
    created_at: date,
    modified_by: { ...uuid, description: 'Application that last modified it' },
    modified_at: date,
  },
} as const;
