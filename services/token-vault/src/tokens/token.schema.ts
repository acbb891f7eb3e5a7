import { cursorQuery, pageQuery } from '@sluice/http-api';
import { tokenInputSchema, tokenPatchSchema, tokenTypeNames, tokenUseSchema } from '@sluice/vault';

/** Largest body: 1 MiB of data, and space for the other members. */
export const bodyLimitBytes = 1.25 * 1024 * 1024;

const uuid = { type: 'string', format: 'uuid' } as const;
const date = { type: 'string', format: 'iso-date', description: 'ISO 8601' } as const;

const card = {
  type: 'card',
  data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 },
} as const;
const metadata = { customer: 'c-1042' } as const;
const use = {
  proxies: ['3d1f6a0e-7c52-4b8e-9f3a-6a2b0c9d8e17'],
  destinations: ['api.example.com'],
  max_uses: 3,
  until: '2026-12-31T00:00:00.000Z',
} as const;

export const tokenParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', description: 'The id of a token' } },
} as const;

export const createTokenBody = {
  ...tokenInputSchema,
  examples: [{ ...card, metadata }, { data: 'any JSON' }, { ...card, use }],
} as const;

export const patchTokenBody = {
  ...tokenPatchSchema,
  examples: [
    { data: { expiration_year: 2031 }, metadata: { customer: 'c-1043', note: null } },
    { use: { max_uses: 1 } },
  ],
} as const;

const tokenFilter = {
  id: {
    type: 'array',
    items: { type: 'string' },
    maxItems: 1000,
    description: 'Lists only items with these ids. Repeat the parameter, or separate ids with commas',
  },
  type: {
    type: 'array',
    items: { type: 'string', enum: tokenTypeNames },
    description: 'Lists only tokens of these types. Repeat the parameter, or separate types with commas',
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
    query: {
      type: 'string',
      maxLength: 200,
      description: 'Comparisons such as `type:card`, combined with AND, OR, NOT and parentheses',
    },
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
  description: 'A reference to a value in the vault.',
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
    id: { type: 'string', description: 'Id of the token. It is unique in the Tenant' },
    type: {
      type: 'string',
      enum: tokenTypeNames,
      description:
        'The type decides how `data` is validated, which container is the default, and which mask is the default. The card number of a `card` or `card_number` has 12 to 19 digits. The last digit is a check digit (Luhn). Numbers of UnionPay, which begin with 62 or 81, are an exception: their last digit is not checked',
    },
    tenant_id: { ...uuid, description: 'Id of the Tenant' },
    data: { description: 'The value: plaintext, masked or absent. The access rule that applies decides' },
    mask: {
      description:
        'How `data` is shown to callers that see it masked: JSON with expressions such as `{{ data.number | last4 }}`',
    },
    containers: {
      type: 'array',
      items: { type: 'string' },
      description: 'Containers of the token. Access rules grant permissions on containers',
    },
    metadata: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description:
        'Names and values of your own. They are stored and shown in plaintext, so never put sensitive values here',
    },
    search_indexes: {
      type: 'array',
      items: { type: 'string' },
      description:
        'Expressions over `data`. A search for `data:TEXT` finds the token if the value of one of these expressions is equal to TEXT',
    },
    fingerprint: {
      type: 'string',
      description:
        'Keyed hash of the value. Two tokens of the Tenant with equal `type`, `fingerprint_expression` and fingerprint have equal values. Do not compare fingerprints of different expressions',
    },
    fingerprint_expression: {
      type: 'string',
      description: 'Expression over `data`. Its value is hashed for the fingerprint',
    },
    expires_at: { ...date, description: 'When the token is deleted' },
    use: tokenUseSchema,
    uses: {
      type: 'integer',
      description: 'How many invocations have used the token. Invocations are counted only if `use.max_uses` is set',
    },
    created_by: { ...uuid, description: 'Id of the Application, session or user that created it' },
    created_at: date,
    modified_by: { ...uuid, description: 'Id of the Application, session or user that last changed it' },
    modified_at: date,
  },
} as const;
