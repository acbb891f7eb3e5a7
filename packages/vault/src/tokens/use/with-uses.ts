import { asTenant } from '@sluice/database';
import type { Vault } from '../../vault.ts';
import type { Token } from '../token.ts';
import { findUses } from './count-uses.queries.ts';

/** Adds `uses` to tokens with `use.max_uses`. No query if there is none. */
export async function withUses(
  { db }: Pick<Vault, 'db'>,
  tenantId: string,
  tokens: readonly Token[],
): Promise<Token[]> {
  const limited = tokens.filter(({ use }) => use?.max_uses !== undefined).map(({ id }) => id);
  if (limited.length === 0) return [...tokens];
  const uses = await asTenant(tenantId, () => findUses(db, tenantId, limited));
  return tokens.map((token) => {
    const counted = token.use?.max_uses === undefined ? undefined : uses.get(token.id);
    return counted === undefined ? token : { ...token, uses: counted };
  });
}

export async function withItsUses(vault: Pick<Vault, 'db'>, tenantId: string, token: Token): Promise<Token> {
  const [shown = token] = await withUses(vault, tenantId, [token]);
  return shown;
}
