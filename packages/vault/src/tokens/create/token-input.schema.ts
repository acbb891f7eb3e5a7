import { containerPattern } from '@sluice/access';
import type { FromSchema } from 'json-schema-to-ts';
import { tokenTypeNames } from '../../types/token-types.ts';

/** `readTokenInput` checks what a schema cannot express. */
export const tokenInputSchema = {
  title: 'CreateToken',
  type: 'object',
  required: ['data'],
  properties: {
    id: {
      type: 'string',
      minLength: 3,
      maxLength: 400,
      description: 'Default a random UUID; these are not allowed: # / \\ + ? [ ] | & = % < > { } ^',
    },
    type: { type: 'string', enum: tokenTypeNames, description: 'Default token' },
    data: { description: 'Any JSON up to 1 MiB' },
    mask: { description: 'JSON of expressions over data; default by type' },
    containers: {
      type: 'array',
      minItems: 1,
      maxItems: 20,
      items: { type: 'string', maxLength: 400, pattern: containerPattern },
      description: 'Default by type',
    },
    metadata: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Stored and answered in plaintext, up to 1 MiB: nothing sensitive',
    },
    search_indexes: {
      type: 'array',
      maxItems: 50,
      items: { type: 'string', maxLength: 400 },
      description: 'Expressions over data by whose values the token is found',
    },
    fingerprint_expression: {
      type: 'string',
      minLength: 1,
      maxLength: 400,
      description:
        'Expression over data that the fingerprint is made of; default by type. Only tokens of the same expression are equal',
    },
    deduplicate_token: {
      type: 'boolean',
      description:
        "Overrides the Tenant's `deduplicate_tokens`; with keys of public Applications and sessions only false does",
    },
    expires_at: { type: 'string', description: 'ISO 8601; UTC where it has no zone' },
  },
} as const;

export type TokenInputWire = FromSchema<typeof tokenInputSchema>;
