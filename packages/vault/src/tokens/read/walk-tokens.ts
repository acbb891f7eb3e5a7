import { decide } from '@sluice/access';
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

/** A page of `listTokens` after a token, without a total. Its cost does not depend on the number of tokens or pages. */
export async function walkTokens(
  vault: Vault,
  actor: Actor,
  filter: TokenFilter,
  request: WalkRequest,
): Promise<WalkedTokens> {
  requirePermission(actor, 'token:read');
  return walk(vault, actor, conditionsWithin(actor, filter), request);
}

/** {@link walkTokens} for `searchTokens`. */
export async function walkFoundTokens(
  vault: Vault,
  actor: Actor,
  query: SearchText,
  request: WalkRequest,
): Promise<WalkedTokens> {
  const conditions = await compileSearch(vault, actor, query);
  return walk(vault, actor, conditions, request, (row) => decide(actor, 'token:search', row) !== undefined);
}

async function walk(
  vault: Vault,
  actor: Actor,
  conditions: readonly Condition[],
  { after, size }: WalkRequest,
  isGranted?: (row: TokenRow) => boolean,
): Promise<WalkedTokens> {
  await actor.hold?.(copiesRead * bytesAtOnce);
  const rows = await findPageAfter(vault.db, actor.tenantId, conditions, { after, size: size + 1 });
  const page = rows.slice(0, size);
  const last = page.at(-1);
  const { tokens, cutAt } = await presentPage(vault, actor, page, { isGranted });
  const next = cutAt ?? (rows.length > size ? last : undefined);
  return next ? { tokens, next: { created_at: next.created_at, id: next.id } } : { tokens };
}
