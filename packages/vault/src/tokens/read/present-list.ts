import type { Vault } from '../../vault.ts';
import type { Actor, Token, TokenRow } from '../token.ts';
import { discloseRead, touch } from './activity.ts';
import { presentWithoutData, readVisible } from './present-token.ts';

/**
 * The tokens of a page as a read of each would give them, in their order. Those that the rules do not let the actor
 * read are left out, whatever the query that found them thought: the rules have the last word.
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
