import type { Me, PermissionName } from '@sluice/sdk';
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { sluice } from './client.ts';
import { recognize } from './sign-in.ts';

/** The signed-in person, read again each minute, because a role may change. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => recognize(await sluice.console.me({ signal })),
  staleTime: 60_000,
  refetchInterval: 60_000,
});

/** Use it only inside the frame, which has loaded the query. */
export function useMe(): Me {
  return useSuspenseQuery(meQuery).data;
}

/** Why the person lacks this permission; undefined if they have it. */
export function useMissingRight(permission: PermissionName | undefined): string | undefined {
  const { permissions, role, tenant } = useMe();
  if (permission === undefined || permissions.includes(permission)) return undefined;
  return role === undefined
    ? `You need the permission ${permission}, which the key that you signed in with does not have.`
    : `You need the permission ${permission}, which the role ${role} does not have. An owner of ${tenant.name} can give you another role.`;
}

/** The name to show for a person or an Application. */
export function nameOf({ user, application_id: application }: Pick<Me, 'user' | 'application_id'>): string {
  const named = [user?.first_name, user?.last_name].filter(Boolean).join(' ');
  return named || user?.email || (user ? 'Owner' : `Key of Application ${application?.slice(0, 8)}`);
}
