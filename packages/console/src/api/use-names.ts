import { useQuery } from '@tanstack/react-query';
import { sluice } from './client.ts';
import { useMe } from './me.ts';

const lists = {
  applications: { permission: 'application:read', list: sluice.applications },
  proxies: { permission: 'proxy:read', list: sluice.proxies },
  reactors: { permission: 'reactor:read', list: sluice.reactors },
  formulas: { permission: 'reactor:read', list: sluice.reactorFormulas },
} as const;

const most = 100;

interface Named {
  id: string;
  name: string;
}

/** Names by id, for at most 100 ids. Those that no longer exist, or that the person may not see, are missing. */
export function useNames(of: keyof typeof lists, ids: readonly (string | undefined)[]): ReadonlyMap<string, string> {
  const { permissions } = useMe();
  const { permission, list } = lists[of];
  const id = [...new Set(ids.filter((one) => one !== undefined))].sort().slice(0, most);
  const { data } = useQuery({
    queryKey: [of, 'names', id],
    queryFn: async ({ signal }): Promise<{ data: Named[] }> => list.list({ id, size: most }, { signal }).page(),
    enabled: id.length > 0 && permissions.includes(permission),
    placeholderData: (former) => former,
    staleTime: 60_000,
  });
  return new Map(data?.data.map(({ id: one, name }) => [one, name]));
}
