import type { Vault } from '../../vault.ts';
import type { Actor, Token, TokenRow } from '../token.ts';
import { discloseRead, touch } from './activity.ts';
import { presentWithoutData, readVisible } from './present-token.ts';

/**
 * Shows rows as a read would, in their order. The rules are applied again and have the last word: a row that the actor
 * may not read is left out even if the query found it.
 */
export async function presentList(vault: Vault, actor: Actor, rows: readonly TokenRow[]): Promise<Token[]> {
  const { data, revealed } = await readVisible(vault, actor, rows);
  const readable = rows.filter((row) => data.has(row.id));
  await touch(vault, actor.tenantId, readable);
  await discloseRead(vault, actor, revealed);
  return readable.map((row) => {
    const visible = data.get(row.id);
    return { ...presentWithoutData(row), ...(visible !== undefined && { data: visible }) };
  });
}
