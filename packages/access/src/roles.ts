import { holds } from './decide.ts';
import type { Grants } from './explain.ts';
import { isHoldable, type PermissionType, permissionsFor } from './permissions.ts';

export const roles = ['OWNER', 'ADMIN', 'DEVELOPER', 'AUDITOR'] as const;
export type Role = (typeof roles)[number];

const management = permissionsFor('management').map(({ type }) => type as PermissionType);

/** No role has a token permission, so nobody who signs in sees the `data` of a token. */
const permissionsByRole: Record<Role, readonly PermissionType[]> = {
  OWNER: management,
  ADMIN: management.filter((type) => type !== 'tenant:delete'),
  DEVELOPER: management.filter((type) => !type.startsWith('tenant:')),
  AUDITOR: management.filter((type) => type.endsWith(':read')),
};

export function permissionsOf(role: Role): readonly PermissionType[] {
  return permissionsByRole[role];
}

/** Who acts: an Application, or a person with a role. */
export type Giver = Grants & { role?: Role };

/**
 * The management permissions among these that the giver does not hold, and so cannot pass on to an Application or a person.
 * Token permissions are left out, because no management key and no person can hold them.
 */
export function permissionsLackedBy(giver: Grants, permissions: readonly string[]): string[] {
  return [...new Set(permissions)].filter((one) => isHoldable(one, 'management') && !holds(giver, one));
}

/**
 * Whether the giver may make somebody a member with this role, or change or remove one who has it. Only an OWNER gives
 * and takes OWNER, never a key, whatever it holds: a leaked key must not make or remove owners.
 */
export function mayGive(giver: Giver, role: Role): boolean {
  return role === 'OWNER' ? giver.role === 'OWNER' : permissionsLackedBy(giver, permissionsOf(role)).length === 0;
}
