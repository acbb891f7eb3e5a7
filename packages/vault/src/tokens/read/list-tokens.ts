import { isPastEnd } from '@sluice/database';
import { sql } from 'kysely';
import { type Condition, hasTerm, hasTerms } from '../../search/token-terms.ts';
import { withinReach } from '../../search/within-reach.ts';
import type { TokenTypeName } from '../../types/token-types.ts';
import type { Vault } from '../../vault.ts';
import { requirePermission } from '../require-permission.ts';
import type { Actor, Token } from '../token.ts';
import { presentList } from './present-list.ts';
import { bytesAtOnce, copiesRead, countAll, countMatching, findPage, type PageRequest } from './token-list.queries.ts';

/** All conditions must hold; empty lists match every token. */
export interface TokenFilter {
  ids?: readonly string[];
  types?: readonly TokenTypeName[];
  metadata?: Readonly<Record<string, string>>;
}

/** `total` counts the tokens on all pages. */
export interface TokenPage {
  tokens: Token[];
  total: number;
}

/** Newest first, with data as a read would show it. Disclosures of plaintext are logged. */
export async function listTokens(
  vault: Vault,
  actor: Actor,
  filter: TokenFilter,
  page: PageRequest,
): Promise<TokenPage> {
  requirePermission(actor, 'token:read');
  const { db } = vault;
  const { tenantId } = actor;
  const { ids = [], types = [], metadata = {} } = filter;
  const conditions = conditionsWithin(actor, filter);
  const isCounted =
    withinReach(tenantId, actor, 'token:read').length === 0 && ids.length === 0 && Object.keys(metadata).length === 0;
  const total = isCounted ? await countAll(db, tenantId, types) : await countMatching(db, tenantId, conditions);
  if (isPastEnd(page, total)) return { tokens: [], total };
  await actor.hold?.(copiesRead * bytesAtOnce);
  const rows = await findPage(db, tenantId, conditions, page);
  return { tokens: await presentList(vault, actor, rows), total };
}

export function conditionsWithin(actor: Actor, filter: TokenFilter): Condition[] {
  return [...conditionsOf(actor.tenantId, filter), ...withinReach(actor.tenantId, actor, 'token:read')];
}

/** Reads the metadata of a token once, whatever the number of keys. */
function conditionsOf(tenantId: string, { ids = [], types = [], metadata = {} }: TokenFilter): Condition[] {
  const conditions: Condition[] = [];
  if (ids.length > 0) conditions.push(sql<boolean>`id = any(${[...ids]}::text[])`);
  if (types.length > 0) {
    const terms = types.map((value) => ({ kind: 'type', value }) as const);
    conditions.push(sql<boolean>`type = any(${[...types]}::text[])`, hasTerm(tenantId, terms));
  }
  const pairs = Object.entries(metadata);
  if (pairs.length > 0) {
    const terms = pairs.map(([key, value]) => ({ kind: `metadata.${key}`, value }) as const);
    conditions.push(hasTerms(tenantId, terms), sql<boolean>`metadata @> ${JSON.stringify(metadata)}::jsonb`);
  }
  return conditions;
}
