import { decide, type RuleTransform } from '@sluice/access';
import { type FilterBudget, filterBudget } from '../../expressions/filter-budget.ts';
import { fillTemplate, tooLarge } from '../../expressions/template.ts';
import { textLengthOf } from '../../expressions/text-length.ts';
import type { Json } from '../../json.ts';
import type { TokenTypeName } from '../../types/token-types.ts';
import type { Vault } from '../../vault.ts';
import { type DecryptionBudget, decryptionBudget, unbounded } from '../decryption-budget.ts';
import type { FoundToken, LargeToken } from '../token.queries.ts';
import type { Actor, Token, TokenRow } from '../token.ts';
import { decryptData, inOrderOfNeed, requireNeeded } from '../token-data.ts';
import type { BoundToken } from '../use/purpose.ts';
import { requireUseByCode } from './disclose-read.ts';
import { ShownData } from './shown-data.ts';
import { wholeInGroups } from './whole-tokens.ts';

export function presentWithoutData(
  row: Omit<TokenRow, 'data_ciphertext' | 'cvc_ciphertext' | 'cvc_due_at' | 'active_month' | 'blind_metadata_bytes'>,
): Token {
  return {
    id: row.id,
    type: row.type as TokenTypeName,
    tenant_id: row.tenant_id,
    ...(row.mask !== null && { mask: row.mask }),
    containers: row.containers,
    ...(Object.keys(row.metadata).length > 0 && { metadata: row.metadata }),
    ...(row.search_indexes.length > 0 && { search_indexes: row.search_indexes }),
    ...(row.fingerprint !== null && { fingerprint: row.fingerprint }),
    ...(row.fingerprint_expression !== null && { fingerprint_expression: row.fingerprint_expression }),
    ...(row.expires_at !== null && { expires_at: row.expires_at }),
    ...(row.use !== null && { use: row.use }),
    ...(row.created_by !== null && { created_by: row.created_by }),
    created_at: row.created_at,
    ...(row.modified_by !== null && { modified_by: row.modified_by }),
    ...(row.modified_at !== null && { modified_at: row.modified_at }),
  };
}

/** For an actor that may not read the token but changed it or created an equal one. */
export function presentUnread({ id, type, tenant_id, containers }: Unread): Token {
  return { id, type: type as TokenTypeName, tenant_id, containers };
}

type Unread = Pick<TokenRow, 'id' | 'type' | 'tenant_id' | 'containers'>;

/** Plaintext, the filled mask (null if it is too large), or nothing. */
export function visibleData(
  transform: RuleTransform,
  { mask, data }: { mask: Json; data: Json },
  budget: FilterBudget,
): Json | undefined {
  if (transform === 'reveal') return data;
  if (transform !== 'mask' || mask === null) return undefined;
  const filled = fillTemplate(mask, data, budget);
  return filled === tooLarge ? null : filled;
}

/** If so, the data must be decrypted and the disclosure logged. */
export function showsData(transform: RuleTransform, mask: Json): boolean {
  return transform === 'reveal' || (transform === 'mask' && mask !== null);
}

/** Without tokens that the actor may not read. */
export interface VisibleTokens {
  data: Map<string, Json | undefined>;
  revealed: BoundToken[];
}

/**
 * `read` applies the transform of the `token:read` rule; `use` does too, unless `token:use` grants plaintext; `reveal`
 * requires `token:use` on each token.
 */
export type Reading = 'read' | 'use' | 'reveal';

function decideReading(actor: Actor, reading: Reading, row: FoundToken): RuleTransform | undefined {
  if (reading !== 'read' && decide(actor, 'token:use', row)) return 'reveal';
  return reading === 'reveal' ? undefined : decide(actor, 'token:read', row);
}

/**
 * One budget for each request, and one for all calls of a transform. Without `needed` only a transform's is limited.
 */
function budgetOf(actor: Actor, { isBounded, isSeen }: { isBounded: boolean; isSeen: boolean }): DecryptionBudget {
  const shared = actor.through?.decryption;
  if (shared && (isBounded || isSeen)) return shared;
  const { leftBytes } = isBounded ? decryptionBudget() : unbounded;
  return { leftBytes, hold: (bytes) => (shared ?? actor).hold?.(bytes) };
}

/** Decrypts only what is shown. `needed` names tokens whose data is required, and limits what is decrypted or shown. */
export async function readVisible(
  vault: Vault,
  actor: Actor,
  found: readonly FoundToken[],
  {
    reading = 'read',
    needed,
    budget = filterBudget(),
  }: { reading?: Reading; needed?: ReadonlySet<string>; budget?: FilterBudget } = {},
): Promise<VisibleTokens> {
  const transforms = new Map<string, RuleTransform>();
  for (const token of found) {
    const transform = decideReading(actor, reading, token);
    if (transform) transforms.set(token.id, transform);
  }
  const transformOf = (id: string) => transforms.get(id) ?? 'redact';
  const bytesOf = ({ id, size_bytes, data_bytes }: LargeToken) =>
    transformOf(id) === 'mask' ? size_bytes : data_bytes;
  const readable = found.filter(({ id }) => transforms.has(id));
  // Without `needed`, the size of masked data must not decide about errors.
  const isSeen = [...transforms.values()].every((transform) => transform === 'reveal');
  const decryption = budgetOf(actor, { isBounded: needed !== undefined, isSeen });
  const data = new Map<string, Json | undefined>(readable.map(({ id }) => [id, undefined]));
  const shown = readable.filter(({ id }) => transformOf(id) !== 'redact');
  // Masked ones, too, whether they have a mask or not: whether a large one has is not known yet
  if (actor.through && shown.some(({ use }) => use)) await requireUseByCode(vault, actor, actor.through, shown);
  const revealed: BoundToken[] = [];
  const done = new Set<string>();
  // A Proxy's transform may see more than its caller, and values must not decide about errors of an invocation.
  const isLimited = needed !== undefined && actor.through === undefined;
  const seen = new ShownData();
  for (const tokens of inOrderOfNeed(shown, needed)) {
    for await (const rows of wholeInGroups(vault, actor.tenantId, tokens, { budget: decryption, bytesOf })) {
      const toDecrypt = rows.filter(({ id, mask }) => showsData(transformOf(id), mask));
      const decrypted = await decryptData(vault, actor.tenantId, toDecrypt, decryption);
      for (const { id } of rows) done.add(id);
      for (const { id, mask, use } of toDecrypt) {
        const plaintext = decrypted.get(id);
        const transform = transformOf(id);
        const value = plaintext === undefined ? undefined : visibleData(transform, { mask, data: plaintext }, budget);
        // A mask has its own texts and can repeat the data.
        const more = transform === 'mask' ? textLengthOf(value) : 0;
        const isCovered = plaintext !== undefined && more <= decryption.leftBytes && !(isLimited && !seen.add(value));
        if (isCovered) {
          decryption.leftBytes -= more;
          data.set(id, value);
        } else done.delete(id);
        revealed.push({ id, use });
      }
    }
  }
  requireNeeded(shown, done, needed);
  return { data, revealed };
}
