import type { ApplicationType, Grants } from '@sluice/access';
import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';

/** The Application whose key was presented, with what it may do. */
export interface Caller extends Grants {
  id: string;
  tenantId: string;
  type: ApplicationType;
}

/** Not gone by the database's clock: an Application that is due counts as deleted though its row is still there. */
export const notExpired = sql<boolean>`(applications.expires_at is null or applications.expires_at > clock_timestamp())`;

/** Undefined for a key that is unknown, expired, or of a deleted Application or Tenant. */
export async function findCaller(db: Queryable, keyHash: Buffer): Promise<Caller | undefined> {
  const row = await db
    .selectFrom('applications')
    .innerJoin('tenants', 'tenants.id', 'applications.tenant_id')
    .select([
      'applications.id',
      'applications.tenant_id',
      'applications.type',
      'applications.permissions',
      'applications.rules',
    ])
    .where('applications.key_hash', '=', keyHash)
    .where('tenants.closed_at', 'is', null)
    .where(notExpired)
    .executeTakeFirst();
  if (!row) return undefined;
  return { id: row.id, tenantId: row.tenant_id, type: row.type, permissions: row.permissions, rules: row.rules };
}
