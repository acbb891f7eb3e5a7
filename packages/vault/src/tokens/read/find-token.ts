import { decide } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import type { Vault } from '../../vault.ts';
import { notGranted, requirePermission } from '../require-permission.ts';
import { isLarge } from '../token.queries.ts';
import type { Actor, Token } from '../token.ts';
import { isTokenId } from '../token-id.ts';
import { withItsUses } from '../use/with-uses.ts';
import { touch } from './activity.ts';
import { discloseRead } from './disclose-read.ts';
import { presentWithoutData, readVisible } from './present-token.ts';
import { readWhole } from './whole-tokens.ts';

/** Logs the disclosure first. @throws {ServiceError} `not_found`, `forbidden`. */
export async function findToken(vault: Vault, actor: Actor, id: string): Promise<Token> {
  requirePermission(actor, 'token:read');
  const found = isTokenId(id) ? await vault.tokens.find(actor.tenantId, [id]) : [];
  const [token] = found;
  if (!token) throw tokenNotFound();
  if (!decide(actor, 'token:read', token)) throw notGranted('token:read', [token.id]);
  const rows = isLarge(token)
    ? await readWhole(vault, actor.tenantId, [token], actor.through?.decryption ?? actor)
    : [token];
  const [row] = rows;
  if (!row) throw tokenNotFound();
  const { data, revealed } = await readVisible(vault, actor, rows);
  if ((await touch(vault, actor.tenantId, found)).has(row.id)) throw tokenNotFound();
  await discloseRead(vault, actor, revealed);
  const visible = data.get(row.id);
  const shown = { ...presentWithoutData(row), ...(visible !== undefined && { data: visible }) };
  return withItsUses(vault, actor.tenantId, shown);
}

export function tokenNotFound(): ServiceError {
  return new ServiceError('not_found', 'There is no token with this id');
}
