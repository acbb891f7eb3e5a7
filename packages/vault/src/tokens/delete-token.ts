import { decide } from '@sluice/access';
import { type Confirmation, tagOf } from '@sluice/cache-coherence';
import type { Vault } from '../vault.ts';
import { tokenNotFound } from './read/find-token.ts';
import { notGranted, requirePermission } from './require-permission.ts';
import { deleteTokenRow, lockTokenRow } from './token.queries.ts';
import type { Actor } from './token.ts';
import { isTokenId } from './token-id.ts';

/** Resolves once no process can serve the token. @throws {ServiceError} `not_found`, `forbidden`. */
export async function deleteToken(vault: Vault, actor: Actor, id: string): Promise<Confirmation> {
  requirePermission(actor, 'token:delete');
  if (!isTokenId(id)) throw tokenNotFound();
  const change = await vault.db.transaction().execute(async (tx) => {
    const row = await lockTokenRow(tx, actor.tenantId, id);
    if (!row) throw tokenNotFound();
    if (!decide(actor, 'token:delete', row)) throw notGranted('token:delete', [id]);
    await deleteTokenRow(tx, actor, id);
    // The locks may have taken long.
    await actor.checkAgain?.(tx);
    return vault.changes.record(tx, actor.tenantId, [tagOf.token(actor.tenantId, id)]);
  });
  return vault.changes.barrier(change);
}
