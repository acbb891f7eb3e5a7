import type { Vault } from '../../vault.ts';
import { discloseRead, touch } from '../read/activity.ts';
import { presentWithoutData, readVisible } from '../read/present-token.ts';
import { findTokenRows } from '../token.queries.ts';
import type { Actor, Token, TokenRow } from '../token.ts';

/**
 * Tokens that a creation found instead of making new ones, by id: as a read would give them, and to an actor that may
 * not read them no more than what tells that they are equal.
 */
export async function presentEqualTokens(
  vault: Vault,
  actor: Actor,
  equal: readonly Pick<TokenRow, 'id'>[],
): Promise<Map<string, Token>> {
  if (equal.length === 0) return new Map();
  const ids = [...new Set(equal.map(({ id }) => id))];
  const rows = await findTokenRows(vault.db, actor.tenantId, ids);
  const { data, revealed } = await readVisible(vault, actor, rows);
  await touch(vault, actor.tenantId, rows);
  await discloseRead(vault, actor, revealed);
  return new Map(
    rows.map((row) => {
      const visible = data.get(row.id);
      if (!data.has(row.id)) return [row.id, presentStub(row)];
      return [row.id, { ...presentWithoutData(row), ...(visible !== undefined && { data: visible }) }];
    }),
  );
}

function presentStub(row: TokenRow): Token {
  const { id, type, tenant_id, fingerprint, containers } = presentWithoutData(row);
  return { id, type, tenant_id, ...(fingerprint !== undefined && { fingerprint }), containers };
}
