import type { Queryable } from '@sluice/database';
import { newFilterBudget } from '../../expressions/filter-budget.ts';
import type { Vault } from '../../vault.ts';
import { requirePermission } from '../require-permission.ts';
import type { Actor } from '../token.ts';
import { type AlsoInTransaction, type CreatedToken, createTokens } from './create-tokens.ts';
import { readTokenInput } from './read-token-input.ts';

/**
 * Creates a token from JSON of the form of `tokenInputSchema`, which it checks. The answer shows the data as a read by
 * the same actor would: without `token:read` there is none.
 * @throws {ServiceError} `validation_failed`, `payload_too_large`; `forbidden` where `token:create` is not granted on
 * each container; `conflict` where the id is taken.
 */
export async function createToken(
  vault: Vault,
  actor: Actor,
  input: unknown,
  also?: AlsoInTransaction<CreatedToken>,
): Promise<CreatedToken> {
  requirePermission(actor, 'token:create');
  const checked = readTokenInput(input, '', { now: vault.clock(), budget: newFilterBudget() });
  const alsoForOne = also && ((tx: Queryable, created: CreatedToken[]) => also(tx, only(created)));
  return only(await createTokens(vault, actor, [checked], alsoForOne));
}

function only([created]: readonly CreatedToken[]): CreatedToken {
  if (!created) throw new Error('Nothing was created');
  return created;
}
