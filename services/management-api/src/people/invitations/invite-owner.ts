import type { KeyObject } from 'node:crypto';
import { recordChange, systemAct } from '@sluice/audit';
import { generateSecret, hashKey } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import { asciiLowerCase } from '../ascii-lower-case.ts';
import { insertInvitation } from './invitation.queries.ts';

/**
 * Creates an invitation that gives the user `owner_id` an identity. @returns its secret; undefined for a missing or
 * closed Tenant.
 */
export function inviteOwner(
  db: Database,
  pepper: KeyObject,
  { tenantId, email }: { tenantId: string; email: string },
): Promise<string | undefined> {
  return db.transaction().execute(async (tx) => {
    const tenant = await tx
      .selectFrom('tenants')
      .select('owner_id')
      .where('id', '=', tenantId)
      .where('closed_at', 'is', null)
      .executeTakeFirst();
    if (!tenant) return undefined;
    const secret = generateSecret();
    const { id: entityId } = await insertInvitation(tx, {
      ...{ tenantId, email: asciiLowerCase(email), role: 'OWNER', secretHash: hashKey(pepper, secret) },
      ...{ createdBy: null, userId: tenant.owner_id },
    });
    await recordChange(tx, systemAct(tenantId), {
      operation: 'create',
      entityType: 'invitation',
      entityId,
      detail: { role: 'OWNER' },
    });
    return secret;
  });
}
