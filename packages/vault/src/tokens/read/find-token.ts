import { ServiceError } from '@sluice/problems';
import type { Vault } from '../../vault.ts';
import { notGranted, requirePermission } from '../require-permission.ts';
import type { Actor, Token } from '../token.ts';
import { isTokenId } from '../token-id.ts';
import { discloseRead, touch } from './activity.ts';
import { presentWithoutData, readVisible } from './present-token.ts';

/**
 * Reads a token; the deciding rule says how its data is shown. Plaintext is noted in the disclosure log first.
 * @throws {ServiceError} `not_found`; `forbidden` where nothing grants `token:read` on its containers.
 */
export async function findToken(vault: Vault, actor: Actor, id: string): Promise<Token> {
  requirePermission(actor, 'token:read');
  const rows = isTokenId(id) ? await vault.tokens.find(actor.tenantId, [id]) : [];
  const [row] = rows;
  if (!row) throw tokenNotFound();
  const { data, revealed } = await readVisible(vault, actor, rows);
  if (!data.has(row.id)) throw notGranted('token:read', [row.id]);
  await touch(vault, actor.tenantId, rows);
  await discloseRead(vault, actor, revealed);
  const visible = data.get(row.id);
  return { ...presentWithoutData(row), ...(visible !== undefined && { data: visible }) };
}

export function tokenNotFound(): ServiceError {
  return new ServiceError('not_found', 'There is no token with this id');
}
