import { type Giver, holds, mayGive, permissionsOf, type Role } from '@sluice/access';
import { notExpired } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';

/** Who made a link, a person or an Application; null for the operator. */
export type MadeBy = string | null;

export type Givers = ReadonlyMap<string, Giver>;

/** What these people and Applications of the Tenant may do now. Whoever is gone is absent. */
export async function findGivers(db: Queryable, tenantId: string, ids: readonly MadeBy[]): Promise<Givers> {
  const known = ids.filter((id) => id !== null);
  if (known.length === 0) return new Map();
  const people = await db
    .selectFrom('members')
    .select(['user_id', 'role'])
    .where('tenant_id', '=', tenantId)
    .where('user_id', 'in', known)
    .execute();
  const applications = await db
    .selectFrom('applications')
    .select(['id', 'permissions', 'rules'])
    .where('tenant_id', '=', tenantId)
    .where('id', 'in', known)
    .where(notExpired)
    .execute();
  return new Map<string, Giver>([
    ...people.map(({ user_id, role }) => [user_id, { role, permissions: permissionsOf(role), rules: [] }] as const),
    ...applications.map(({ id, permissions, rules }) => [id, { permissions, rules }] as const),
  ]);
}

/** Whether the invitation could be made now by whoever made its link. */
export function mayStillInvite(givers: Givers, { madeBy, role }: { madeBy: MadeBy; role: Role }): boolean {
  if (madeBy === null) return true;
  const giver = givers.get(madeBy);
  return giver !== undefined && holds(giver, 'tenant:invitation:create') && mayGive(giver, role);
}
