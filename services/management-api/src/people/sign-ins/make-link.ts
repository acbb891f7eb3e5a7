import type { KeyObject } from 'node:crypto';
import { recordChange, systemAct } from '@sluice/audit';
import { generateSecret, hashKey } from '@sluice/credentials';
import type { Database, Queryable } from '@sluice/database';
import { sql } from 'kysely';
import { insertLink } from './link.queries.ts';

export interface LinkMaker {
  db: Database;
  pepper: KeyObject;
}

/** With link sign-in an owner without an address gets this one. */
const localEmail = 'owner@localhost';

export async function nameOwner(tx: Queryable, userId: string): Promise<void> {
  await tx
    .updateTable('users')
    .set({ email: localEmail })
    .where('id', '=', userId)
    .where('email', 'is', null)
    .execute();
}

/**
 * A link for the Tenant's `owner_id`, else its first OWNER: good once, five minutes. Undefined for a missing or closed
 * Tenant.
 */
export function createOwnersLink({ db, pepper }: LinkMaker, tenantId: string): Promise<string | undefined> {
  return db.transaction().execute(async (tx) => {
    const owner = await findOwner(tx, tenantId);
    if (!owner) return undefined;
    await nameOwner(tx, owner.user_id);
    return insertLinkFor(tx, pepper, { tenantId, userId: owner.user_id });
  });
}

/** The same for this member of the Tenant. */
export function createMembersLink(
  { db, pepper }: LinkMaker,
  who: { tenantId: string; userId: string },
): Promise<string> {
  return db.transaction().execute((tx) => insertLinkFor(tx, pepper, who));
}

async function insertLinkFor(
  tx: Queryable,
  pepper: KeyObject,
  { tenantId, userId }: { tenantId: string; userId: string },
): Promise<string> {
  const secret = generateSecret();
  await insertLink(tx, { tenantId, userId, secretHash: hashKey(pepper, secret) });
  const message = 'Sign-in link created for the User';
  const change = { operation: 'update', entityType: 'user', entityId: userId, message } as const;
  await recordChange(tx, systemAct(tenantId), change);
  return secret;
}

function findOwner(db: Queryable, tenantId: string) {
  return db
    .selectFrom('members')
    .innerJoin('tenants', 'tenants.id', 'members.tenant_id')
    .select('members.user_id')
    .where('members.tenant_id', '=', tenantId)
    .where('members.role', '=', 'OWNER')
    .where('tenants.closed_at', 'is', null)
    .orderBy(sql`members.user_id = tenants.owner_id`, 'desc')
    .orderBy('members.created_at')
    .orderBy('members.id')
    .executeTakeFirst();
}

export async function findOnlyTenant(db: Queryable): Promise<string | undefined> {
  const open = await db.selectFrom('tenants').select('id').where('closed_at', 'is', null).limit(2).execute();
  return open.length === 1 ? open[0]?.id : undefined;
}
