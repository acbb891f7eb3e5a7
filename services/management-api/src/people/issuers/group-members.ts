import { recordChange, type VerbOf } from '@sluice/audit';
import { absent, tagOf } from '@sluice/cache-coherence';
import { nextVersion, type Queryable } from '@sluice/database';
import { sql } from 'kysely';
import type { Identity } from './issuer.ts';

interface OfPerson {
  userId: string;
  roles: Identity['roles'];
  /** Tenants in which the membership stays whatever this issuer says. */
  decidedElsewhere: readonly string[];
  traceId: string;
}

interface Member {
  id: string;
  tenant_id: string;
  role: string;
}

/**
 * Makes the memberships that come from groups equal to the issuer's answer. Decisions of people take precedence: a
 * removed member is not added again, and a role that somebody has set is not changed, until an invitation is accepted.
 * @returns the tags of the changes by Tenant; the caller records them.
 */
export async function followGroups(
  tx: Queryable,
  { userId, roles, decidedElsewhere, traceId }: OfPerson,
): Promise<Map<string, string[]>> {
  const tags = new Map<string, string[]>();
  const note = async (operation: VerbOf<'member'>, { id, tenant_id: tenantId, role }: Member) => {
    tags.set(tenantId, [absent, tagOf.user(userId)]);
    const act = { tenantId, actorId: userId, actorType: 'user', traceId } as const;
    await recordChange(tx, act, { operation, entityType: 'member', entityId: id, detail: { role, source: 'group' } });
  };
  // In a fixed order, so that two concurrent sign-ins of a person cannot deadlock.
  for (const [tenantId, role] of [...roles].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const made = await createMember(tx, { tenantId, userId, role });
    const changed = made ? undefined : await changeRole(tx, { tenantId, userId, role });
    if (made) await note('create', made);
    else if (changed) await note('update', changed);
  }
  for (const ended of await endOthers(tx, userId, [...roles.keys(), ...decidedElsewhere])) await note('delete', ended);
  return tags;
}

interface Wanted {
  tenantId: string;
  userId: string;
  role: string;
}

/** Undefined for a member, for somebody who was removed, and for a closed or unknown Tenant. */
async function createMember(tx: Queryable, { tenantId, userId, role }: Wanted): Promise<Member | undefined> {
  const { rows } = await sql<Member>`
    insert into members (tenant_id, user_id, role, source)
    select id, ${userId}, ${role}, 'group' from tenants
    where id = ${tenantId} and closed_at is null
      and not exists (select from former_members where tenant_id = ${tenantId} and user_id = ${userId})
    on conflict (tenant_id, user_id) do nothing
    returning id, tenant_id, role`.execute(tx);
  const [made] = rows;
  // The insert waits for a concurrent removal, which the query before it could not see.
  const { rows: removed } = made
    ? await sql`delete from members where tenant_id = ${tenantId} and id = ${made.id} and exists (
        select from former_members where tenant_id = ${tenantId} and user_id = ${userId}) returning id`.execute(tx)
    : { rows: [] };
  return removed.length > 0 ? undefined : made;
}

async function changeRole(tx: Queryable, { tenantId, userId, role }: Wanted): Promise<Member | undefined> {
  const { rows } = await sql<Member>`
    update members set role = ${role}, modified_by = ${userId}, modified_at = ${nextVersion({ table: 'members' })}
    from tenants
    where tenants.id = members.tenant_id and tenants.closed_at is null
      and members.tenant_id = ${tenantId} and members.user_id = ${userId}
      and source = 'group' and not keeps_role and role <> ${role}
    returning members.id, members.tenant_id, members.role`.execute(tx);
  return rows[0];
}

/**
 * An OWNER stays, because no group gives that role. If somebody has set the member's role, the membership is stored as
 * a removed one, because otherwise the group would later give the former role again.
 */
async function endOthers(tx: Queryable, userId: string, tenantIds: readonly string[]): Promise<Member[]> {
  const { rows } = await sql<Member & { keeps_role: boolean }>`
    delete from members using tenants
    where tenants.id = members.tenant_id and tenants.closed_at is null and members.user_id = ${userId}
      and members.source = 'group' and members.role <> 'OWNER' and members.tenant_id <> all(${[...tenantIds]}::uuid[])
    returning members.id, members.tenant_id, members.role, members.keeps_role`.execute(tx);
  for (const { tenant_id } of rows.filter(({ keeps_role }) => keeps_role)) {
    await tx
      .insertInto('former_members')
      .values({ tenant_id, user_id: userId })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  return rows.sort((a, b) => (a.tenant_id < b.tenant_id ? -1 : 1));
}
