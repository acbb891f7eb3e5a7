import type { FromSchema } from 'json-schema-to-ts';
import { tokenInputSchema } from '../create/token-input.schema.ts';

const { data, mask, containers, search_indexes, fingerprint_expression } = tokenInputSchema.properties;

/** A JSON merge patch. `readTokenPatch` checks what a schema cannot express. */
export const tokenPatchSchema = {
  title: 'PatchToken',
  type: 'object',
  properties: {
    data: { description: `${data.description}; merged` },
    mask: { description: `${mask.description}; merged` },
    containers: { ...containers, type: ['array', 'null'], description: 'Replaced; null puts it where its type is' },
    metadata: {
      type: ['object', 'null'],
      additionalProperties: { type: ['string', 'null'] },
      description: 'Merged; null removes. Stored and answered in plaintext: nothing sensitive',
    },
    search_indexes: {
      ...search_indexes,
      type: ['array', 'null'],
      description: `${search_indexes.description}; replaced`,
    },
    fingerprint_expression: { ...fingerprint_expression, type: ['string', 'null'] },
    deduplicate_token: { type: ['boolean', 'null'], description: "Overrides the Tenant's `deduplicate_tokens`" },
    expires_at: { type: ['string', 'null'], description: 'ISO 8601; UTC where it has no zone; null for never' },
  },
} as const;

export type TokenPatchWire = FromSchema<typeof tokenPatchSchema>;
