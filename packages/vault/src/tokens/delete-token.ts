import { decide } from '@sluice/access';
import { type Confirmation, tagOf } from '@sluice/cache-coherence';
import { changeRows } from '@sluice/database';
import type { Vault } from '../vault.ts';
import { tokenNotFound } from './read/find-token.ts';
import { notGranted, requirePermission } from './require-permission.ts';
import { deleteTokenRow, lockTokenRow } from './token.queries.ts';
import type { Actor } from './token.ts';
import { isTokenId, rowOfToken } from './token-id.ts';

/** Resolves once no process can serve the token. @throws {ServiceError} `not_found`, `forbidden`. */
export async function deleteToken(vault: Vault, actor: Actor, id: string): Promise<Confirmation> {
  requirePermission(actor, 'token:delete');
  if (!isTokenId(id)) throw tokenNotFound();
  const change = await changeRows(vault.db, { tenantId: actor.tenantId, rows: [rowOfToken(id)] }, async (tx) => {
    const row = await lockTokenRow(tx, actor.tenantId, id);
    if (!row) throw tokenNotFound();
    if (!decide(actor, 'token:delete', row)) throw notGranted('token:delete', [id]);
    actor.requireVersion?.(row);
    await deleteTokenRow(tx, actor, id);
    await actor.look?.(tx);
    return vault.changes.record(tx, actor.tenantId, [tagOf.token(actor.tenantId, id)]);
  });
  return vault.changes.barrier(change);
}
