import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';

const lifetime = sql<string>`clock_timestamp() + interval '5 minutes'`;
const notExpired = sql<boolean>`sign_in_links.expires_at > clock_timestamp()`;

export async function insertLink(
  db: Queryable,
  { tenantId, userId, secretHash }: { tenantId: string; userId: string; secretHash: Buffer },
): Promise<void> {
  await db
    .insertInto('sign_in_links')
    .values({ tenant_id: tenantId, user_id: userId, secret_hash: secretHash, expires_at: lifetime })
    .execute();
}

/** Finds a valid link without using it. */
export function findLink(db: Queryable, secretHash: Buffer) {
  return db
    .selectFrom('sign_in_links')
    .innerJoin('tenants', 'tenants.id', 'sign_in_links.tenant_id')
    .innerJoin('users', 'users.id', 'sign_in_links.user_id')
    .select(['tenants.id as tenant_id', 'tenants.name as tenant_name', 'users.id as user_id', 'users.email'])
    .where('sign_in_links.secret_hash', '=', secretHash)
    .where('tenants.closed_at', 'is', null)
    .where(notExpired)
    .executeTakeFirst();
}

/** Of two concurrent uses the second waits and finds nothing. */
export async function takeLink(tx: Queryable, secretHash: Buffer) {
  const taken = await tx
    .deleteFrom('sign_in_links')
    .where('secret_hash', '=', secretHash)
    .where(notExpired)
    .returning(['tenant_id', 'user_id'])
    .executeTakeFirst();
  return taken && { tenantId: taken.tenant_id, userId: taken.user_id };
}
