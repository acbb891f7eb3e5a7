import { mayGive, permissionsLackedBy, permissionsOf, type Role } from '@sluice/access';
import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';

/**
 * For everything that concerns people with these roles: giving and taking them, invitations to them, and ending sign-ins.
 * @throws {ServiceError} `forbidden`
 */
export function requireGiver(caller: Caller, ...given: readonly Role[]): void {
  const refused = given.find((role) => !mayGive(caller, role));
  if (refused === undefined) return;
  const lacking = permissionsLackedBy(caller, permissionsOf(refused));
  const why =
    refused === 'OWNER'
      ? 'Only an OWNER who signed in may do this, because it concerns the role OWNER'
      : `You lack ${lacking.join(', ')}, which the role ${refused} has`;
  throw new ServiceError('forbidden', why);
}
