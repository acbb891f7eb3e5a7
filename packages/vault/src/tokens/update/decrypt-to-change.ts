import type { Json } from '../../json.ts';
import type { Vault } from '../../vault.ts';
import { type DecryptionBudget, partOf, unbounded } from '../decryption-budget.ts';
import { bytesAtOnce, copiesRead } from '../read/token-list.queries.ts';
import { findTokenRows, findTokens, isLarge } from '../token.queries.ts';
import type { Actor, TokenRow } from '../token.ts';
import { decryptData, requireNeeded } from '../token-data.ts';
import { seesData } from './patch-rights.ts';

/**
 * An actor for repeated attempts. Each attempt releases its budget first, because only the last one changes anything.
 */
export function inAttempts(actor: Actor): { attempting: Actor; giveBack(): void } {
  const { through } = actor;
  const part = partOf(through?.decryption ?? { ...unbounded, hold: (bytes) => actor.hold?.(bytes) });
  const { hold, giveBack } = part;
  const attempting = through?.decryption ? { ...actor, through: { ...through, decryption: part } } : { ...actor, hold };
  return { attempting, giveBack };
}

/** Reserves the memory of the row before it is read. */
export async function readToChange(vault: Vault, actor: Actor, id: string): Promise<TokenRow | undefined> {
  const { tenantId, through } = actor;
  if (through?.decryption) {
    // A transform may change many tokens, so each reserves only its own size.
    const [found] = await findTokens(vault.db, tenantId, [id]);
    if (!found || !isLarge(found)) return found;
    await through.decryption.hold?.(copiesRead * found.size_bytes);
  } else {
    await actor.hold?.(copiesRead * bytesAtOnce);
  }
  const [row] = await findTokenRows(vault.db, tenantId, [id]);
  return row;
}

/** @throws {ServiceError} `payload_too_large` if it exceeds the budget of all calls of a transform together. */
export async function decryptToChange(vault: Vault, actor: Actor, row: TokenRow): Promise<Json> {
  const shared = actor.through?.decryption;
  // The size of hidden data must not decide about errors.
  const budget: DecryptionBudget =
    shared && seesData(actor, row) ? shared : { ...unbounded, hold: (bytes) => (shared ?? actor).hold?.(bytes) };
  const decrypted = await decryptData(vault, actor.tenantId, [row], budget);
  requireNeeded([row], decrypted, undefined);
  return decrypted.get(row.id) ?? null;
}
