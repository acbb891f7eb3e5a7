import type { Member } from '@sluice/sdk';
import { useGiving } from '../../api/giving.ts';
import { type Role, roleNames } from '../../api/role-names.ts';

/** The roles that the person can give, and the one that a member has. */
export function useRoleNames(current?: Role): Partial<Record<Role, string>> {
  const giving = useGiving();
  const offered = Object.entries(roleNames) as [Role, string][];
  return Object.fromEntries(offered.filter(([role]) => role === current || giving.ofRole(role) === undefined));
}

export const roleMeaning: Readonly<Record<Role, string>> = {
  OWNER: 'May do everything, including deleting the Tenant.',
  ADMIN: 'May do everything except delete the Tenant.',
  DEVELOPER: 'May change Applications, Proxies and Reactors, but not the Tenant and its members.',
  AUDITOR: 'May read everything and change nothing.',
};

export function personName({ user }: Pick<Member, 'user'>): string {
  const name = [user.first_name, user.last_name].filter(Boolean).join(' ');
  return name || user.email || 'Owner without an address';
}
