import type { Queryable } from '@sluice/database';
import { findTokenSettings } from '../tenant-settings.queries.ts';
import type { Creation, Draft } from './draft-tokens.ts';
import { findTokenRowsByFingerprint, lockFingerprints } from './equal-tokens.queries.ts';

/**
 * Separates the drafts that equal no token, stored or earlier in the list, from those that do, and gives the id of each
 * equal token. Equal tokens share type and fingerprint and are to be deduplicated. Concurrent creations of equal tokens
 * wait until this transaction ends.
 */
export async function findEqual(
  tx: Queryable,
  { actor: { tenantId }, drafts }: Creation,
): Promise<{ fresh: Draft[]; equal: Map<Draft, string> }> {
  const { deduplicate_tokens: setting } = await findTokenSettings(tx, tenantId);
  const nameOf = ({ row }: Draft) => ((row.deduplicate ?? setting) && row.fingerprint ? keyOf(row) : undefined);
  const canonical = await findStored(tx, tenantId, drafts.filter(nameOf));
  const fresh: Draft[] = [];
  const equal = new Map<Draft, string>();
  for (const draft of drafts) {
    const name = nameOf(draft);
    const id = name === undefined ? undefined : canonical.get(name);
    if (id !== undefined) {
      equal.set(draft, id);
      continue;
    }
    if (name !== undefined) canonical.set(name, draft.row.id);
    fresh.push(draft);
  }
  return { fresh, equal };
}

const keyOf = ({ type, fingerprint }: { type: string; fingerprint: string | null }) => `${type}\n${fingerprint}`;

async function findStored(tx: Queryable, tenantId: string, drafts: readonly Draft[]): Promise<Map<string, string>> {
  const pairs = drafts.flatMap(({ row: { type, fingerprint } }) => (fingerprint ? [{ type, fingerprint }] : []));
  if (pairs.length === 0) return new Map();
  const fingerprints = pairs.map(({ fingerprint }) => fingerprint);
  await lockFingerprints(tx, tenantId, fingerprints);
  const rows = await findTokenRowsByFingerprint(tx, tenantId, pairs);
  return new Map(rows.map((row) => [keyOf(row), row.id]));
}
