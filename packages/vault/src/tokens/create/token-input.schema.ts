import { containerPattern } from '@sluice/access';
import type { FromSchema } from 'json-schema-to-ts';
import { tokenTypeNames } from '../../types/token-types.ts';
import { tokenUseSchema } from '../use/token-use.schema.ts';

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
      description:
        'Id of the token. Default: a random UUID. These characters are not allowed: # / \\ + ? [ ] | & = % < > { } ^',
    },
    type: { type: 'string', enum: tokenTypeNames, description: 'Type of the token. Default: `token`' },
    data: { description: 'The value: any JSON, at most 1 MiB. The type may require certain members' },
    mask: {
      description:
        'How `data` is shown to callers that see it masked: JSON with expressions such as `{{ data.number | last4 }}`. Default: the mask of the token type',
    },
    containers: {
      type: 'array',
      minItems: 1,
      maxItems: 20,
      items: { type: 'string', maxLength: 400, pattern: containerPattern },
      description:
        'Containers of the token. Access rules grant permissions on containers. Default: the container of the token type',
    },
    metadata: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description:
        'Names and values of your own, at most 1 MiB. They are stored and shown in plaintext, so never put sensitive values here',
    },
    search_indexes: {
      type: 'array',
      maxItems: 50,
      items: { type: 'string', maxLength: 400 },
      description:
        'Expressions over `data`, for example `{{ data.number | last4 }}`. A search for `data:TEXT` finds the token if the value of one of these expressions is equal to TEXT',
    },
    fingerprint_expression: {
      type: 'string',
      minLength: 1,
      maxLength: 400,
      description:
        'Expression over `data`. Its value is hashed for the fingerprint. Default: the expression of the type. Tokens with different expressions never count as equal',
    },
    deduplicate_token: {
      type: 'boolean',
      description:
        "Overrides the Tenant's `deduplicate_tokens` for this token. With keys of public Applications and of sessions, true is ignored",
    },
    expires_at: {
      type: 'string',
      description:
        'When the token is deleted, in ISO 8601. A time without a zone is UTC. Default: the token is never deleted',
    },
    use: tokenUseSchema,
  },
} as const;

export type TokenInputWire = FromSchema<typeof tokenInputSchema>;
