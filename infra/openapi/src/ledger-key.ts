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
        summary: 'Read the public keys that sign checkpoints of a Tenant, to verify them',
        description: [
          'A verifier line of C2SP signed-note for each key (Ed25519), old ones included. Keep what it answers: who verifies trusts that, and nothing that is fetched anew. Every UUID gets the same form, whether there is such a Tenant or not. 404 where `LEDGER_PUBLIC_KEYS` is not set.',
          '**Permission:** none, and no key is needed.',
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
