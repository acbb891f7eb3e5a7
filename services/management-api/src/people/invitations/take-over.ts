import { recordChange } from '@sluice/audit';
import type { Queryable } from '@sluice/database';
import { nextVersion } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../../context.ts';
import { withIdentity } from '../issuers/with-identity.ts';
import { deleteMember, lockWithOwners } from '../members/member.queries.ts';
import { lockPerson } from '../sign-ins/sign-in.queries.ts';
import { createMember } from './create-member.ts';
import type { TakenInvitation } from './invitation.queries.ts';

interface TakingOver {
  invitation: TakenInvitation;
  memberId: string;
  userId: string;
  traceId: string;
}

/**
 * Ends the membership that the invitation names, with its sign-ins and links, and makes one with the same role for the
 * person. Both are one transaction, so a Tenant never lacks an OWNER. Nothing changes if the person is that member.
 * @returns the user whose membership it was.
 * @throws {ServiceError} `forbidden` if the membership has changed since the invitation, `conflict` for another member.
 */
export async function takeOver(
  tx: Queryable,
  { issuers }: Pick<Context, 'issuers'>,
  { invitation, memberId, userId, traceId }: TakingOver,
): Promise<string> {
  const { tenant_id: tenantId, role, made_by: invitedBy, made_at: madeAt } = invitation;
  await lockPerson(tx, userId); // Before members, as sign-ins do.
  const target = (await lockWithOwners(tx, tenantId, memberId)).find(({ id }) => id === memberId);
  if (!target || target.role !== role) throw changedSince();
  const { user_id: formerId } = target;
  if (formerId === userId) return formerId;
  if ((await withIdentity(tx, issuers, [formerId])).has(formerId)) throw changedSince();
  await deleteMember(tx, { tenantId, id: memberId, userId: formerId, removedBy: invitedBy });
  const detail = { user_id: formerId, former_role: role, replaced_by: userId, invited_by: invitedBy };
  const act = { tenantId, actorId: userId, actorType: 'user', traceId } as const;
  await recordChange(tx, act, { operation: 'delete', entityType: 'member', entityId: memberId, detail });
  await createMember(tx, { tenantId, userId, role, madeAt });
  await tx
    .updateTable('tenants')
    .set({ owner_id: userId, modified_by: userId, modified_at: nextVersion() })
    .where('id', '=', tenantId)
    .where('owner_id', '=', formerId)
    .execute();
  return formerId;
}

/** Whether the person is the member whose membership the invitation names, so that they have nothing to take over. */
export async function isOwnMembership(
  tx: Queryable,
  { tenant_id: tenantId, member_id: memberId, role }: TakenInvitation,
  userId: string,
): Promise<boolean> {
  if (memberId === null) return false;
  const own = await tx
    .selectFrom('members')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', memberId)
    .where('user_id', '=', userId)
    .where('role', '=', role)
    .executeTakeFirst();
  return own !== undefined;
}

function changedSince(): ServiceError {
  const detail = 'The membership for which this invitation was created has changed; ask for another invitation';
  return new ServiceError('forbidden', detail);
}
