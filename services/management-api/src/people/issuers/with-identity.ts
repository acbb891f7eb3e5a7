import type { Queryable } from '@sluice/database';
import type { Context } from '../../context.ts';

/** Those of these people who can sign in by an issuer that is set. */
export async function withIdentity(
  db: Queryable,
  issuers: Context['issuers'],
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0 || issuers.size === 0) return new Set();
  const identities = await db
    .selectFrom('identities')
    .select(['user_id', 'issuer'])
    .where('user_id', 'in', userIds)
    .execute();
  const urls = new Set([...issuers.values()].map(({ url }) => url));
  return new Set(identities.filter(({ issuer }) => urls.has(new URL(issuer).href)).map(({ user_id }) => user_id));
}
