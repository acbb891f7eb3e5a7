import type { AccessRule } from '@sluice/access';
import type { Vault } from '../../vault.ts';
import type { Actor } from '../token.ts';
import { type UpdatedToken, updateToken } from '../update/update-token.ts';

const binding: AccessRule = { priority: 0, container: '/', transform: 'redact', permissions: ['token:update'] };

/**
 * {@link updateToken} of `use` for administrators, whatever token permissions they have: they can allow less, and see nothing of the
 * token.
 */
export function bindToken(
  vault: Vault,
  { within: _, ...actor }: Actor,
  id: string,
  use: unknown,
): Promise<UpdatedToken> {
  return updateToken(vault, { ...actor, type: 'user', permissions: [], rules: [binding] }, id, { use });
}
