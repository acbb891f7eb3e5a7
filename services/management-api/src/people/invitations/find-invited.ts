import { holds, type Role } from '@sluice/access';
import type { Caller } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../../context.ts';
import { withIdentity } from '../issuers/with-identity.ts';
import { listMembersByEmail } from '../members/member.queries.ts';
import { requireGiver } from '../members/require-giver.ts';

const ofEmail = { errors: { email: ['is the address of a member'] } };

interface Wanted {
  caller: Caller;
  email: string;
  /** For somebody who is no member. */
  role: Role;
}

export interface Invited {
  role: Role;
  /** The membership that whoever accepts takes over. */
  memberId: string | null;
}

/**
 * What an invitation to this address gives. The address of a member who cannot sign in by an issuer gives that membership, so
 * the caller must be allowed to give its role. That is judged first: whoever may not give the role of an OWNER gets 403 whatever
 * else is wrong.
 * @throws {ServiceError} `forbidden`, `conflict`
 */
export async function findInvited(
  tx: Queryable,
  { issuers }: Pick<Context, 'issuers'>,
  { caller, email, role }: Wanted,
): Promise<Invited> {
  // Who may not read members can give no role either, and is told nothing of the address.
  if (!holds(caller, 'tenant:member:read')) requireGiver(caller, role);
  const members = await listMembersByEmail(tx, caller.tenantId, email);
  const known = await withIdentity(
    tx,
    issuers,
    members.map(({ user_id }) => user_id),
  );
  const replaceable = members.filter(({ user_id }) => !known.has(user_id));
  requireGiver(caller, ...(replaceable.length > 0 ? replaceable.map((member) => member.role) : [role]));
  const [member, another] = members;
  if (!member) return { role, memberId: null };
  if (another) throw new ServiceError('conflict', 'Several members have this address', ofEmail);
  if (replaceable.length === 0) throw new ServiceError('conflict', 'A member already has this address', ofEmail);
  return { role: member.role, memberId: member.id };
}
