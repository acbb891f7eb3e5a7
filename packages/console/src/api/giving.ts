import { mayGive, permissionsLackedBy, permissionsOf, type Role } from '@sluice/access';
import type { PermissionName } from '@sluice/sdk';
import { useMe } from './me.ts';

interface Granted {
  permissions: readonly PermissionName[];
  rules: readonly { permissions: readonly PermissionName[] }[];
}

/** Why the service would refuse to let this person pass on rights, judged by the same functions. Undefined: it would not. */
export interface Giving {
  /** To give the role, or to change or remove something of a person who has it. */
  ofRole: (role: Role) => string | undefined;
  /** To make an Application with these grants, or to change one that has them, or its keys. */
  ofGrants: (granted: Granted) => string | undefined;
}

export function useGiving(): Giving {
  const { permissions, role: own } = useMe();
  const giver = { permissions, rules: [], ...(own && { role: own }) };
  const lacks = (lacking: readonly string[]) =>
    lacking.length === 0 ? undefined : `You need permissions for this that you do not have: ${listed(lacking)}.`;
  return {
    ofRole: (role) => {
      if (mayGive(giver, role)) return undefined;
      return role === 'OWNER'
        ? 'Only an Owner who is signed in as a person may do this, because it concerns an Owner.'
        : lacks(permissionsLackedBy(giver, permissionsOf(role)));
    },
    ofGrants: (granted) =>
      lacks(permissionsLackedBy(giver, [...granted.permissions, ...granted.rules.flatMap((rule) => rule.permissions)])),
  };
}

const mostShown = 3;

function listed(names: readonly string[]): string {
  const others = names.length - mostShown;
  return names.slice(0, mostShown).join(', ') + (others > 0 ? ` and ${others} more` : '');
}
