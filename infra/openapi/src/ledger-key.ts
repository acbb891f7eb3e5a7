import type { OpenApiDocument } from '@sluice/http-api';

const example =
  'sluice.example/ledger/0c5f2a4e-8b1d-4a2c-9a55-3f6f0c7d2e11+095625bb+AcI2Wtq8m8GxzIRMZU2nEYysMhakYfzXdWmuU/rYXzuZ\n';

/** The public keys of the ledger. They have no operation record, because they need no API key. */
export function ledgerKeyPaths(): OpenApiDocument['paths'] {
  return {
    '/.well-known/sluice-ledger-key/{tenant_id}': {
      get: {
        operationId: 'getLedgerKey',
        tags: ['Logs'],
        summary: 'Get the public keys that verify checkpoints of a Tenant',
        description: [
          'Each line is a public Ed25519 key, in the format of verifier keys of C2SP signed-note. The response includes old keys. Store the keys: a verification must use stored keys, not keys that were fetched again. For a UUID that belongs to no Tenant the response has the same form. If `LEDGER_PUBLIC_KEYS` is not set, the response is 404.',
          '**Permission:** none. No API key is needed.',
        ].join('\n\n'),
        security: [],
        parameters: [
          {
            name: 'tenant_id',
            in: 'path',
            description: 'Id of the Tenant',
            required: true,
            schema: { type: 'string', format: 'uuid' },
          },
        ],
        responses: {
          200: {
            description: 'The answer.',
            content: { 'text/plain': { schema: { type: 'string', examples: [example] } } },
          },
        },
      },
    },
  };
}
