import type { Queryable } from '@sluice/database';

export interface Use {
  id: string;
  name: string;
}

/** The newest `most` of them, and how many there are. */
export async function findUses(
  db: Queryable,
  of: { tenantId: string; applicationId: string; table: 'proxies' | 'reactors' },
  most: number,
): Promise<{ count: number; uses: Use[] }> {
  const users = db
    .selectFrom(of.table)
    .where('tenant_id', '=', of.tenantId)
    .where('application_id', '=', of.applicationId);
  const { count } = await users.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  const uses = await users
    .select(['id', 'name'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(most)
    .execute();
  return { count, uses };
}
