import { decide } from '@sluice/access';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { type FilterBudget, filterBudget } from '../../expressions/filter-budget.ts';
import { textLengthOf } from '../../expressions/text-length.ts';
import type { Vault } from '../../vault.ts';
import { presentPage } from '../read/present-list.ts';
import { presentUnread, presentWithoutData, visibleData } from '../read/present-token.ts';
import { ShownData } from '../read/shown-data.ts';
import { findPageOfIds } from '../read/token-list.queries.ts';
import type { Token } from '../token.ts';
import { mayCodeHave } from '../use/purpose-of-code.ts';
import { type Creation, type Draft, tokensOfPiece } from './draft-tokens.ts';
import type { InsertedToken } from './insert-tokens.queries.ts';

/** `created` is false if an equal token existed. */
export interface CreatedToken {
  token: Token;
  created: boolean;
}

export interface StoredDrafts {
  inserted: readonly InsertedToken[];
  equal: ReadonlyMap<Draft, string>;
}

/** In the order of the drafts. `db` is the open transaction, because a draft may equal another of the list. */
export async function presentCreated(
  db: Queryable,
  creation: Creation,
  { inserted, equal }: StoredDrafts,
): Promise<CreatedToken[]> {
  const { vault, actor, drafts } = creation;
  const byId = new Map(inserted.map((token) => [token.id, token]));
  const equalTokens = await presentEqual(db, creation, [...new Set(equal.values())]);
  const budget = filterBudget();
  const shown = new ShownData();
  let isFull = false;
  const created: CreatedToken[] = [];
  for (const draft of drafts) {
    if (created.length > 0 && created.length % tokensOfPiece === 0) await vault.workPieces.turn(actor.tenantId);
    const equalId = equal.get(draft);
    if (equalId === undefined) {
      created.push({ token: presentNew(draft, byId.get(draft.row.id), creation, budget), created: true });
      continue;
    }
    const equalToken = equalTokens.get(equalId);
    if (!equalToken)
      throw new ServiceError('conflict', 'An equal token existed, but it was deleted during this request; try again');
    const { token = equalToken.stub, stub } = equalToken;
    // Five thousand drafts of a few bytes can equal one token of some MiB.
    isFull ||= !shown.add(token.data, textLengthOf(token.mask) + textLengthOf(token.metadata));
    created.push({ token: isFull ? stub : token, created: false });
  }
  return created;
}

function presentNew(
  { input, row }: Draft,
  inserted: InsertedToken | undefined,
  { vault, actor }: Pick<Creation, 'vault' | 'actor'>,
  budget: FilterBudget,
): Token {
  if (!inserted) throw new Error(`Token ${row.id} was not inserted`);
  const isShown = !actor.through || mayCodeHave(actor.through, row, vault.clock());
  const data = isShown ? visibleData(decide(actor, 'token:read', row) ?? 'redact', input, budget) : undefined;
  const authorship = {
    tenant_id: actor.tenantId,
    created_by: actor.id,
    modified_by: null,
    modified_at: null,
  };
  const token = presentWithoutData({ ...row, ...inserted, ...authorship });
  const isLimited = row.use?.max_uses !== undefined;
  return { ...token, ...(isLimited && { uses: 0 }), ...(data !== undefined && { data }) };
}

interface EqualToken {
  /** As a read would show it; absent if the actor may not read it, and beyond 8 MiB. */
  token?: Token;
  stub: Token;
}

async function presentEqual(
  db: Queryable,
  { vault: opened, actor: { hold: _, ...actor } }: Creation,
  ids: readonly string[],
): Promise<Map<string, EqualToken>> {
  if (ids.length === 0) return new Map();
  // Without a second connection or a reservation, because transactions that wait for these could wait for each other.
  const vault: Vault = { ...opened, db };
  const rows = await findPageOfIds(db, actor.tenantId, ids);
  const { tokens } = await presentPage(vault, actor, rows);
  const shown = new Map(tokens.map((token) => [token.id, token]));
  return new Map(
    rows.map(({ small }): [string, EqualToken] => {
      const { id, fingerprint } = small;
      const token = shown.get(id);
      const stub = { ...presentUnread(small), ...(fingerprint !== null && { fingerprint }) };
      return [id, { ...(token && { token }), stub }];
    }),
  );
}
