import type { Mutant } from '../weakened/mutants.ts';

/**
 * Plays the version before: the sources of this one, without what came since. Its leases do not say what they know, and no
 * Proxy and no token has the new members, neither in the API nor in an invocation.
 */
export const formerVersion: readonly Pick<Mutant, 'name' | 'file' | 'edits'>[] = [
  {
    name: 'leases that say nothing',
    file: 'packages/cache-coherence/src/lease.queries.ts',
    edits: [['$' + '{untilMoment}, $' + '{newestMigration})', '$' + '{untilMoment}, null)']],
  },
  {
    name: 'Proxies without the new members',
    file: 'packages/database/src/tables/proxy-members.ts',
    edits: [
      [
        'export const proxyColumns =',
        `const added = ['token_places', 'request_headers', 'head_timeout_s', 'path_name', 'accept_key_as', 'allowed_methods', 'allowed_paths', 'response_guard'];
         for (const name of added) delete proxyMembers[name];
         export const proxyColumns =`,
      ],
    ],
  },
  {
    name: 'tokens without use',
    file: 'packages/vault/src/tokens/token.queries.ts',
    edits: [["  'expires_at',\n  'use',\n", "  'expires_at',\n"]],
  },
  {
    name: 'new tokens without use',
    file: 'packages/vault/src/tokens/create/draft-tokens.ts',
    edits: [['use: input.use,', 'use: null,']],
  },
  {
    name: 'answers without use',
    file: 'packages/vault/src/tokens/read/present-token.ts',
    edits: [['row.use !== null && ', 'row.use && ']],
  },
];
