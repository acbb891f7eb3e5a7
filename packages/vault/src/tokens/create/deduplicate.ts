import type { Queryable } from '@sluice/database';
import { findTokenSettings } from '../tenant-settings.queries.ts';
import type { NewTokenRow } from '../token.queries.ts';
import type { TokenRow } from '../token.ts';
import { findTokenRowsByFingerprint, lockFingerprints } from './equal-tokens.queries.ts';
import type { InsertedToken } from './insert-tokens.queries.ts';
import type { TokenInput } from './read-token-input.ts';

/** A token that is ready to be stored. */
export interface Draft {
  input: TokenInput;
  row: NewTokenRow;
}

/** What became of a draft: a new token, or the equal one that there was. */
export type Placed = { inserted: InsertedToken } | { existing: Pick<TokenRow, 'id'> };

/**
 * Inserts the drafts that have no equal, be it stored or earlier in the list. Equal is who has the type and fingerprint
 * and is to be deduplicated.
 */
export async function insertWhatIsNew(
  tx: Queryable,
  tenantId: string,
  drafts: readonly Draft[],
  insert: (drafts: readonly Draft[]) => Promise<Placed[]>,
): Promise<Placed[]> {
  const { deduplicate_tokens: setting } = await findTokenSettings(tx, tenantId);
  const nameOf = ({ input, row }: Draft) =>
    (input.deduplicate ?? setting) && row.fingerprint ? `${row.type}\n${row.fingerprint}` : undefined;
  const canonical = await findEqual(tx, tenantId, drafts.filter(nameOf));
  const fresh: Draft[] = [];
  for (const draft of drafts) {
    const name = nameOf(draft);
    if (name !== undefined && canonical.has(name)) continue;
    if (name !== undefined) canonical.set(name, draft.row.id);
    fresh.push(draft);
  }
  const inserted = new Map<Draft, Placed>();
  const placedFresh = await insert(fresh);
  fresh.forEach((draft, i) => {
    const placed = placedFresh[i];
    if (placed) inserted.set(draft, placed);
  });
  return drafts.map((draft) => inserted.get(draft) ?? { existing: { id: canonical.get(nameOf(draft) ?? '') ?? '' } });
}

/** Ids of stored tokens by type and fingerprint. Others who create equal ones wait until this transaction ends. */
async function findEqual(tx: Queryable, tenantId: string, drafts: readonly Draft[]): Promise<Map<string, string>> {
  const pairs = drafts.flatMap(({ row: { type, fingerprint } }) => (fingerprint ? [{ type, fingerprint }] : []));
  if (pairs.length === 0) return new Map();
  await lockFingerprints(
    tx,
    tenantId,
    pairs.map(({ fingerprint }) => fingerprint),
  );
  const rows = await findTokenRowsByFingerprint(tx, tenantId, pairs);
  return new Map(rows.map((row) => [`${row.type}\n${row.fingerprint}`, row.id]));
}
