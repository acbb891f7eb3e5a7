import { decide } from '@sluice/access';
import { isPastEnd } from '@sluice/database';
import { validationFailed } from '@sluice/problems';
import { isStorable, unstorable } from '../json.ts';
import type { TokenPage } from '../tokens/read/list-tokens.ts';
import { presentList } from '../tokens/read/present-list.ts';
import {
  bytesAtOnce,
  copiesRead,
  countMatching,
  findPage,
  type PageRequest,
} from '../tokens/read/token-list.queries.ts';
import { requirePermission } from '../tokens/require-permission.ts';
import type { Actor, TokenRow } from '../tokens/token.ts';
import { searchHashOf } from '../tokens/token-data.ts';
import type { Vault } from '../vault.ts';
import { compileQuery } from './compile-query.ts';
import { parseQuery, type Query, type SearchField } from './parse-query.ts';
import { inSearchTime } from './search-time.ts';
import type { Condition } from './token-terms.ts';
import { withinReach } from './within-reach.ts';

const longestQuery = 200;

/**
 * Searches tokens for which the actor has `token:search` and `token:read`. `data:value` finds tokens with a search
 * index whose result, when they were written, was exactly that text. @throws as {@link compileSearch}.
 */
export async function searchTokens(
  vault: Vault,
  actor: Actor,
  { query, fields, ...page }: PageRequest & SearchText,
): Promise<TokenPage> {
  const conditions = await compileSearch(vault, actor, { query, fields });
  await actor.hold?.(copiesRead * bytesAtOnce);
  const { rows, total } = await inSearchTime(vault.db, async (read) => {
    const total = await read((tx) => countMatching(tx, actor.tenantId, conditions));
    if (isPastEnd(page, total)) return { rows: [], total };
    return { rows: await read((tx) => findPage(tx, actor.tenantId, conditions, page)), total };
  });
  const isGranted = (row: TokenRow) => decide(actor, 'token:search', row) !== undefined;
  return { tokens: await presentList(vault, actor, rows, { isGranted }), total };
}

export interface SearchText {
  query: string;
  /** Fields that the query may name besides metadata; default: all. */
  fields?: readonly SearchField[] | undefined;
}

/** @throws {ServiceError} `forbidden`; `validation_failed` with the position of the fault. */
export async function compileSearch(vault: Vault, actor: Actor, { query, fields }: SearchText): Promise<Condition[]> {
  requirePermission(actor, 'token:search');
  if (Array.from(query).length > longestQuery) {
    throw validationFailed({ query: [`may have at most ${longestQuery} characters`] });
  }
  if (!isStorable(JSON.stringify(query))) throw validationFailed({ query: [unstorable] });
  return [await compile(vault, actor.tenantId, parseQuery(query, fields)), ...withinBoth(actor)];
}

async function compile(vault: Vault, tenantId: string, query: Query): Promise<Condition> {
  if (!namesData(query)) return compileQuery(query, { tenantId, hashOf: () => '' });
  const key = await vault.dataKeys.forHashing({ tenantId, purpose: 'blind_index' });
  return compileQuery(query, { tenantId, hashOf: (text) => searchHashOf(key, text) });
}

function namesData(query: Query): boolean {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.operands.some(namesData);
    case 'not':
      return namesData(query.operand);
    default:
      return query.field === 'data';
  }
}

function withinBoth(actor: Actor): Condition[] {
  return (['token:search', 'token:read'] as const).flatMap((permission) =>
    withinReach(actor.tenantId, actor, permission),
  );
}
