import { decide } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import type { Json } from '../../json.ts';
import type { Vault } from '../../vault.ts';
import { type DecryptionBudget, decryptionBudget } from '../decryption-budget.ts';
import { notGranted } from '../require-permission.ts';
import { type FoundToken, isLarge } from '../token.queries.ts';
import type { Actor, TokenRow } from '../token.ts';
import { decryptData, inOrderOfNeed, requireNeeded } from '../token-data.ts';
import { isTokenId } from '../token-id.ts';
import { type Purpose, requirePurpose } from '../use/purpose.ts';
import { touch } from './activity.ts';
import { wholeInGroups } from './whole-tokens.ts';

interface Revealing {
  /** Made if a token is bound, because most are not. Default: what the fewest of them allow. */
  purpose?: () => Purpose;
  /** Tokens that are required. Beyond the budget other tokens are missing, so that sizes do not decide about errors. */
  needed?: ReadonlySet<string>;
  budget?: DecryptionBudget;
  /** Called with the rows before they are decrypted. Of those with `max_uses` the caller counts a use. */
  onFound?: (rows: readonly FoundToken[]) => void;
}

/**
 * Plaintext by id, whatever the transforms, if the actor has `token:use` on each. The caller counts the uses and then
 * records the disclosure.
 * @throws {ServiceError} `payload_too_large`; `invalid_proxy_request` naming unknown ids; `forbidden` naming tokens.
 * @throws {UseRefused} for tokens whose `use` does not allow the purpose.
 */
export async function revealForUse(
  vault: Vault,
  actor: Omit<Actor, 'traceId'>,
  ids: readonly string[],
  { purpose = unknownPurpose, needed, budget = decryptionBudget(), onFound }: Revealing = {},
): Promise<Map<string, Json>> {
  if (ids.length === 0) return new Map();
  const { tenantId } = actor;
  const found = vault.tokens.find(tenantId, ids.filter(isTokenId));
  const rows = found instanceof Promise ? await found : found;
  refuseUnusable(actor, rows);
  refuseUnknown(ids, rows);
  if (rows.some(isBound)) requirePurpose(rows, purpose(), vault.clock());
  onFound?.(rows);
  const ordered = needed ? inOrderOfNeed(rows, needed) : [rows];
  const decrypted = rows.some(isLarge)
    ? decryptLarge(vault, tenantId, ordered, budget)
    : decryptData(vault, tenantId, ordered.flat() as TokenRow[], budget);
  const data = decrypted instanceof Promise ? await decrypted : decrypted;
  if (data.size < rows.length) requireNeeded(rows, data, needed);
  const touched = touch(vault, tenantId, rows);
  const gone = touched instanceof Promise ? await touched : touched;
  if (gone.size > 0) throw unknownTokens([...gone]);
  return data;
}

const unknownPurpose = (): Purpose => ({ proxyId: undefined, call: undefined });
const isBound = ({ use }: FoundToken) => use !== null;

async function decryptLarge(
  vault: Vault,
  tenantId: string,
  found: readonly FoundToken[][],
  budget: DecryptionBudget,
): Promise<Map<string, Json>> {
  const decrypted = new Map<string, Json>();
  for (const tokens of found) {
    for await (const rows of wholeInGroups(vault, tenantId, tokens, { budget })) {
      for (const [id, data] of await decryptData(vault, tenantId, rows, budget)) decrypted.set(id, data);
    }
  }
  return decrypted;
}

function refuseUnknown(wanted: readonly string[], rows: readonly FoundToken[]): void {
  if (rows.length === wanted.length) return;
  const found = new Set(rows.map((row) => row.id));
  const unknown = wanted.filter((id) => !found.has(id));
  if (unknown.length === 0) return; // some ids were given twice
  throw unknownTokens(unknown);
}

export function unknownTokens(ids: readonly string[]): ServiceError {
  return new ServiceError('invalid_proxy_request', `Unknown tokens: ${ids.join(', ')}`);
}

/** Only the checks of rights. @throws {ServiceError} `forbidden` naming the tokens that the actor may not use. */
export async function requireUse(vault: Vault, actor: Omit<Actor, 'traceId'>, ids: readonly string[]): Promise<void> {
  refuseUnusable(actor, await vault.tokens.find(actor.tenantId, ids.filter(isTokenId)));
}

function refuseUnusable(actor: Omit<Actor, 'traceId'>, rows: readonly FoundToken[]): void {
  const refused = rows.filter((row) => !decide(actor, 'token:use', row));
  if (refused.length === 0) return;
  throw notGranted(
    'token:use',
    refused.map((row) => row.id),
  );
}
