import { nextVersion, type Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { sql } from 'kysely';
import { refuseWhatIsGone } from '../../refuse-what-is-gone.ts';
import type { TakenInvitation } from './invitation.queries.ts';

export interface NewMember {
  tenantId: string;
  userId: string;
  role: TakenInvitation['role'];
}

/**
 * A membership that came from a group becomes independent of it and gets the role of the invitation. An OWNER stays OWNER, and a
 * role that a person has given after the invitation stays too.
 *
 * @throws {ServiceError} `conflict` for another member, `unauthenticated` if the person is gone.
 */
export async function createMember(
  tx: Queryable,
  { tenantId, userId, role, madeAt }: NewMember & { madeAt: string },
): Promise<void> {
  const inserting = tx
    .insertInto('members')
    .values({ tenant_id: tenantId, user_id: userId, role, created_by: userId })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'user_id'])
        .doUpdateSet({ role, source: 'person', modified_by: userId, modified_at: nextVersion({ table: 'members' }) })
        .where('members.source', '=', 'group')
        .where('members.role', '!=', 'OWNER')
        .where(sql<boolean>`(not members.keeps_role or members.modified_at <= ${madeAt}::timestamptz)`),
    )
    .returning('id')
    .executeTakeFirst();
  const made = await refuseWhatIsGone(inserting, 'The Tenant or the person was deleted');
  if (!made) throw new ServiceError('conflict', 'You are already a member of this Tenant');
}
