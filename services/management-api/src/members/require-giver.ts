import { mayGive, permissionsLackedBy, permissionsOf, type Role } from '@sluice/access';
import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';

/** @throws {ServiceError} `forbidden` if the caller may not give, change or take one of these roles. */
export function requireGiver(caller: Caller, ...given: readonly Role[]): void {
  const refused = given.find((role) => !mayGive(caller, role));
  if (refused === undefined) return;
  const lacking = permissionsLackedBy(caller, permissionsOf(refused));
  const why =
    refused === 'OWNER'
      ? 'Only an OWNER who signed in may give or take the role OWNER'
      : `You lack ${lacking.join(', ')}, so you cannot give or take the role ${refused}`;
  throw new ServiceError('forbidden', why);
}
