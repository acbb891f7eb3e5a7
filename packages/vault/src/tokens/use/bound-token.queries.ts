import type { Queryable } from '@sluice/database';
import { notExpired } from '../token.queries.ts';
import type { TokenRow } from '../token.ts';

/** With its uses so far, which no cache has. */
export type FoundBoundToken = Pick<TokenRow, 'id' | 'containers' | 'use'> & { uses: number };

export async function findBoundToken(
  db: Queryable,
  tenantId: string,
  id: string,
): Promise<FoundBoundToken | undefined> {
  const row = await db
    .selectFrom('tokens')
    .select(['id', 'containers', 'use', 'uses'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where(notExpired)
    .executeTakeFirst();
  return row as FoundBoundToken | undefined;
}
