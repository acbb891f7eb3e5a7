import { decide } from '@sluice/access';
import type { Queryable } from '@sluice/database';
import { inSearchTime } from '../../search/search-time.ts';
import { compileSearch, type SearchText } from '../../search/search-tokens.ts';
import type { Condition } from '../../search/token-terms.ts';
import type { Vault } from '../../vault.ts';
import { requirePermission } from '../require-permission.ts';
import type { Actor, Token, TokenRow } from '../token.ts';
import { conditionsWithin, type TokenFilter } from './list-tokens.ts';
import { presentPage } from './present-list.ts';
import { bytesAtOnce, copiesRead, findPageAfter, type TokenPosition } from './token-list.queries.ts';

export interface WalkRequest {
  after?: TokenPosition | undefined;
  size: number;
}

export interface WalkedTokens {
  tokens: Token[];
  next?: TokenPosition;
}

/**
 * A page of `listTokens` after a given token, without a total. Its cost does not depend on the number of tokens or
 * pages.
 */
export async function walkTokens(
  vault: Vault,
  actor: Actor,
  filter: TokenFilter,
  request: WalkRequest,
): Promise<WalkedTokens> {
  requirePermission(actor, 'token:read');
  return walk(vault, actor, { ...request, conditions: conditionsWithin(actor, filter) });
}

/** {@link walkTokens} for `searchTokens`. */
export async function walkFoundTokens(
  vault: Vault,
  actor: Actor,
  query: SearchText,
  request: WalkRequest,
): Promise<WalkedTokens> {
  return walk(vault, actor, { ...request, conditions: await compileSearch(vault, actor, query), isSearch: true });
}

interface Walk extends WalkRequest {
  conditions: readonly Condition[];
  isSearch?: boolean;
}

async function walk(
  vault: Vault,
  actor: Actor,
  { conditions, isSearch = false, after, size }: Walk,
): Promise<WalkedTokens> {
  await actor.hold?.(copiesRead * bytesAtOnce);
  const find = (db: Queryable) => findPageAfter(db, actor.tenantId, conditions, { after, size: size + 1 });
  const rows = await (isSearch ? inSearchTime(vault.db, (read) => read(find)) : find(vault.db));
  const page = rows.slice(0, size);
  const last = page.at(-1);
  const isFound = (row: TokenRow) => decide(actor, 'token:search', row) !== undefined;
  const { tokens, cutAt } = await presentPage(vault, actor, page, isSearch ? { isGranted: isFound } : {});
  const next = cutAt ?? (rows.length > size ? last : undefined);
  return next ? { tokens, next: { created_at: next.created_at, id: next.id } } : { tokens };
}
