import type { FromSchema } from 'json-schema-to-ts';
import { tokenInputSchema } from '../create/token-input.schema.ts';
import { tokenUseSchema } from '../use/token-use.schema.ts';

const { proxies, destinations, methods, places, max_uses, until } = tokenUseSchema.properties;
const { containers, search_indexes, fingerprint_expression } = tokenInputSchema.properties;

/** A JSON merge patch. `readTokenPatch` checks what a schema cannot express. */
export const tokenPatchSchema = {
  title: 'PatchToken',
  type: 'object',
  properties: {
    data: {
      description: 'Merged into `data` as a JSON merge patch. A value that is not an object replaces the whole `data`',
    },
    mask: { description: 'Merged into `mask` as a JSON merge patch. Null restores the default mask of the token type' },
    containers: {
      ...containers,
      type: ['array', 'null'],
      description: 'Replaces all containers. Null restores the default container of the token type',
    },
    metadata: {
      type: ['object', 'null'],
      additionalProperties: { type: ['string', 'null'] },
      description:
        'Merged into `metadata`. If the value of a key is null, the key is removed. If `metadata` itself is null, all keys are removed. Values are stored and shown in plaintext, so never put sensitive values here',
    },
    search_indexes: {
      ...search_indexes,
      type: ['array', 'null'],
      description: 'Replaces all search indexes: expressions over `data`. Null removes them',
    },
    fingerprint_expression: { ...fingerprint_expression, type: ['string', 'null'] },
    deduplicate_token: {
      type: ['boolean', 'null'],
      description: "Overrides the Tenant's `deduplicate_tokens` for this patch",
    },
    expires_at: {
      type: ['string', 'null'],
      description:
        'When the token is deleted, in ISO 8601. A time without a zone is UTC. Null: the token is never deleted',
    },
    use: {
      ...tokenUseSchema,
      title: 'PatchTokenUse',
      type: ['object', 'null'],
      properties: {
        proxies: { ...proxies, type: ['array', 'null'] },
        destinations: { ...destinations, type: ['array', 'null'] },
        methods: { ...methods, type: ['array', 'null'] },
        places: { ...places, type: ['array', 'null'] },
        max_uses: { ...max_uses, type: ['integer', 'null'] },
        until: { ...until, type: ['string', 'null'] },
      },
      description:
        'Restricts how Proxies and reactors may use the token. Replaces `use` as a whole; null removes the restriction. If the new `use` allows more than the present one, the request must have the key of a private Application with a rule that reveals the token. Otherwise the response is 403',
    },
  },
} as const;

export type TokenPatchWire = FromSchema<typeof tokenPatchSchema>;
