import type { Role } from '@sluice/access';
import { isPastEnd, nextVersion, type Queryable } from '@sluice/database';
import type { PageRequest } from '@sluice/http-api';
import { sql } from 'kysely';
import { inOrder, type Sorted } from '../../list-order.ts';
import { isNameFilter, likePattern } from '../../name-filter.ts';
import { emailOf } from '../e-mail-of.ts';

const columns = [
  'members.id',
  'members.tenant_id',
  'members.role',
  'members.source',
  'members.created_by',
  'members.created_at',
  'members.modified_by',
  'members.modified_at',
  'users.id as user_id',
  'users.email',
  'users.first_name',
  'users.last_name',
  'users.picture',
] as const;

const membersOf = (db: Queryable, tenantId: string) =>
  db.selectFrom('members').innerJoin('users', 'users.id', 'members.user_id').where('members.tenant_id', '=', tenantId);

/** An empty list of ids matches every member. */
export async function listMembers(
  db: Queryable,
  tenantId: string,
  { userIds, email }: { userIds: readonly string[]; email: string | undefined },
  page: PageRequest & Sorted,
) {
  const found = membersOf(db, tenantId)
    .$if(userIds.length > 0, (query) => query.where(sql<boolean>`members.user_id = any(${[...userIds]}::uuid[])`))
    .$if(isNameFilter(email), (query) => query.where(emailOf('members.user_id'), 'ilike', likePattern(email ?? '')));
  const { total } = await found.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  if (isPastEnd(page, total)) return { data: [], total };
  const data = await found
    .select(columns)
    .$call(inOrder(page, 'members', sql.ref('users.email')))
    .limit(page.size)
    .offset((page.page - 1) * page.size)
    .execute();
  return { data, total };
}

export function findMember(db: Queryable, tenantId: string, id: string) {
  return membersOf(db, tenantId).select(columns).where('members.id', '=', id).executeTakeFirst();
}

/** None if the Tenant is closed. */
export function listMembersByEmail(db: Queryable, tenantId: string, email: string) {
  return membersOf(db, tenantId)
    .innerJoin('tenants', 'tenants.id', 'members.tenant_id')
    .where('tenants.closed_at', 'is', null)
    .select(['members.id', 'members.user_id', 'members.role', 'members.created_at'])
    .where('users.email', '=', email)
    .orderBy('members.created_at')
    .orderBy('members.id')
    .execute();
}

export interface LockedMember {
  id: string;
  user_id: string;
  role: Role;
  created_at: string;
  modified_at: string | null;
}

/**
 * Locks the member and all OWNERs, always in the same order. Of two concurrent demotions the second sees the result of the first,
 * so one OWNER remains.
 */
export function lockWithOwners(tx: Queryable, tenantId: string, id: string): Promise<LockedMember[]> {
  return tx
    .selectFrom('members')
    .select(['id', 'user_id', 'role', 'created_at', 'modified_at'])
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb.or([eb('role', '=', 'OWNER'), eb('id', '=', id)]))
    .orderBy('id')
    .forUpdate()
    .execute();
}

export async function setRole(
  tx: Queryable,
  { tenantId, id, role, modifiedBy }: { tenantId: string; id: string; role: Role; modifiedBy: string },
): Promise<void> {
  await tx
    .updateTable('members')
    .set({ role, keeps_role: true, modified_by: modifiedBy, modified_at: nextVersion() })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Deleting the row also deletes the person's sign-ins and links in this Tenant. */
export async function deleteMember(
  tx: Queryable,
  { tenantId, id, userId, removedBy }: { tenantId: string; id: string; userId: string; removedBy: string | null },
): Promise<void> {
  await tx.deleteFrom('members').where('tenant_id', '=', tenantId).where('id', '=', id).execute();
  await tx
    .insertInto('former_members')
    .values({ tenant_id: tenantId, user_id: userId, removed_by: removedBy })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'user_id'])
        .doUpdateSet({ removed_by: removedBy, removed_at: sql<string>`clock_timestamp()` }),
    )
    .execute();
}
