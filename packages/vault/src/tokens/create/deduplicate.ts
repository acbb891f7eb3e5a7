import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { TokenTypeName } from '../../types/token-types.ts';
import { findTokenSettings } from '../tenant-settings.queries.ts';
import type { Actor, TokenRow } from '../token.ts';
import type { Creation, Draft } from './draft-tokens.ts';
import { equalityOf, findOldestEqual, hasFingerprint, lockFingerprints, takesPart } from './equal-tokens.queries.ts';

/**
 * What public callers may find as the equal of what they send. Whether a token existed answers a guess at its value, and
 * anybody may guess, so that each other type, which may have few values, gets a new token.
 */
const shared: ReadonlySet<string> = new Set<TokenTypeName>(['card', 'card_number', 'bank']);

const isPublic = ({ type }: Actor) => type === 'public' || type === 'session';

/**
 * A draft that equals a token, stored or earlier in the list, gets its id. Concurrent creations of equal tokens wait.
 */
export async function findEqual(
  tx: Queryable,
  { actor, drafts }: Creation,
): Promise<{ fresh: Draft[]; equal: Map<Draft, string> }> {
  const { tenantId } = actor;
  const { deduplicate_tokens: setting } = await findTokenSettings(tx, tenantId);
  const isLookedFor = (row: Draft['row']) =>
    isPublic(actor) ? setting && row.deduplicate !== false && shared.has(row.type) : (row.deduplicate ?? setting);
  const nameOf = ({ row }: Draft) =>
    takesPart(row) && isLookedFor(row) && hasFingerprint(row) ? equalityOf(row) : undefined;
  const canonical = await findStored(tx, tenantId, drafts.filter(nameOf));
  const fresh: Draft[] = [];
  const equal = new Map<Draft, string>();
  let told = 0;
  for (const draft of drafts) {
    const name = nameOf(draft);
    const known = name === undefined ? undefined : canonical.get(name);
    if (known !== undefined) {
      told += lengthOf(known);
      equal.set(draft, known.id);
      continue;
    }
    if (name !== undefined) canonical.set(name, draft.row);
    fresh.push(draft);
  }
  if (told > mostTold) {
    throw new ServiceError(
      'payload_too_large',
      'Tokens are deduplicated: if a token equals an existing token or an earlier one of the request, the response contains that other token. The response may have at most 8 MiB of such tokens. Create fewer tokens in one request',
      { limit: 'result_size' },
    );
  }
  return { fresh, equal };
}

type Canonical = Pick<TokenRow, 'id' | 'containers'>;

/** Minimum response size per duplicate: five thousand drafts can equal one token with 8 KiB of containers. */
const lengthOf = ({ id, containers }: Canonical) => containers.reduce((sum, { length }) => sum + length, id.length);
const mostTold = 8 * 1024 * 1024;

async function findStored(tx: Queryable, tenantId: string, drafts: readonly Draft[]): Promise<Map<string, Canonical>> {
  const tokens = drafts.map(({ row }) => row).filter(hasFingerprint);
  if (tokens.length === 0) return new Map();
  const fingerprints = tokens.map(({ fingerprint }) => fingerprint);
  await lockFingerprints(tx, tenantId, fingerprints);
  const rows = await findOldestEqual(tx, tenantId, tokens);
  return new Map(rows.map((row) => [row.equality, row]));
}
