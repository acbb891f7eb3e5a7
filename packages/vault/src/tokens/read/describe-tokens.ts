import type { AccessRule } from '@sluice/access';
import { searchFields } from '../../search/parse-query.ts';
import { searchTokens } from '../../search/search-tokens.ts';
import type { Vault } from '../../vault.ts';
import type { Actor, Token } from '../token.ts';
import { listTokens, type TokenFilter, type TokenPage } from './list-tokens.ts';
import type { PageRequest } from './token-list.queries.ts';

/** A token without `data`, and without everything derived from it: mask and fingerprint. */
type DescribedToken = Omit<Token, 'data' | 'mask' | 'fingerprint'>;

export interface DescribedPage {
  tokens: DescribedToken[];
  total: number;
}

/** {@link listTokens} for administrators, whatever token permissions they have: all tokens, without decrypting any. */
export async function describeTokens(
  vault: Vault,
  actor: Actor,
  filter: TokenFilter,
  page: PageRequest,
): Promise<DescribedPage> {
  return described(await listTokens(vault, administrating(actor), filter, page));
}

/** All fields except those that would allow guessing a value. */
const describedFields = searchFields.filter((field) => field !== 'data' && field !== 'fingerprint');

/**
 * {@link describeTokens} for those that a query finds, which may not name `data` and `fingerprint`. @throws as
 * `searchTokens`.
 */
export async function describeFoundTokens(
  vault: Vault,
  actor: Actor,
  request: PageRequest & { query: string },
): Promise<DescribedPage> {
  return described(await searchTokens(vault, administrating(actor), { ...request, fields: describedFields }));
}

const redacted: AccessRule = {
  priority: 0,
  container: '/',
  transform: 'redact',
  permissions: ['token:read', 'token:search'],
};

/** Drops the actor's own grants, so that they can neither hide a token nor reveal one. */
function administrating({ within: _, ...actor }: Actor): Actor {
  return { ...actor, permissions: [], rules: [redacted], administers: true };
}

function described({ tokens, total }: TokenPage): DescribedPage {
  return { tokens: tokens.map(({ data: _, mask: __, fingerprint: ___, ...rest }) => rest), total };
}
