import type { Role } from '@sluice/access';
import type { Caller } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../../context.ts';
import { withIdentity } from '../issuers/with-identity.ts';
import { listMembersByEmail } from '../members/member.queries.ts';
import { requireGiver } from '../members/require-giver.ts';

interface Wanted {
  caller: Caller;
  email: string;
  role?: Role | undefined;
}

export interface Invited {
  role: Role;
  /** The membership that whoever accepts takes over. */
  memberId: string | null;
}

/**
 * What an invitation to this address gives. The address of a member who cannot sign in by an issuer gives that membership, so
 * the caller must be allowed to give its role, and cannot ask for another. That is judged first: whoever may not give the role
 * of an OWNER gets 403 whatever else is wrong.
 * @throws {ServiceError} `forbidden`, `conflict`
 */
export async function findInvited(
  tx: Queryable,
  { issuers }: Pick<Context, 'issuers'>,
  { caller, email, role }: Wanted,
): Promise<Invited> {
  const members = await listMembersByEmail(tx, caller.tenantId, email);
  const known = await withIdentity(
    tx,
    issuers,
    members.map(({ user_id }) => user_id),
  );
  const replaceable = members.filter(({ user_id }) => !known.has(user_id));
  const given = role ?? 'AUDITOR';
  requireGiver(caller, ...(replaceable.length > 0 ? replaceable.map((member) => member.role) : [given]));
  const [member, another] = members;
  if (!member) return { role: given, memberId: null };
  if (another) throw new ServiceError('conflict', 'Several members have this address');
  if (replaceable.length === 0) throw new ServiceError('conflict', 'This address is that of a member');
  if (role !== undefined && role !== member.role) {
    const detail = `This address is that of a member with the role ${member.role}, who would come back with that role. To invite the member again, use Invite again in the list of members, or send no role; to change the role, change the member`;
    throw new ServiceError('conflict', detail);
  }
  return { role: member.role, memberId: member.id };
}
