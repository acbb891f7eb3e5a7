import { useQuery } from '@tanstack/react-query';
import { sluice } from './client.ts';
import { useMe } from './me.ts';

/** The kinds of things that have names, with the permission and the list by which they are found. */
export const namedLists = {
  applications: { permission: 'application:read', list: sluice.applications },
  proxies: { permission: 'proxy:read', list: sluice.proxies },
  reactors: { permission: 'reactor:read', list: sluice.reactors },
  formulas: { permission: 'reactor:read', list: sluice.reactorFormulas },
} as const;

export type NamedKind = keyof typeof namedLists;

export interface NamedRow {
  id: string;
  name: string;
  /** Of an Application. */
  type?: string;
}

export interface NamedPage {
  data: NamedRow[];
  pagination: { total_items?: number };
}

const most = 100;

/** Names by id, for at most 100 ids. Those that no longer exist, or that the person may not see, are missing. */
export function useNames(of: NamedKind, ids: readonly (string | undefined)[]): ReadonlyMap<string, string> {
  const { permissions } = useMe();
  const { permission, list } = namedLists[of];
  const id = [...new Set(ids.filter((one) => one !== undefined))].sort().slice(0, most);
  const { data } = useQuery({
    queryKey: [of, 'names', id],
    queryFn: ({ signal }): Promise<NamedPage> => list.list({ id, size: most }, { signal }).page(),
    enabled: id.length > 0 && permissions.includes(permission),
    placeholderData: (former) => former,
    staleTime: 60_000,
  });
  return new Map(data?.data.map(({ id: one, name }) => [one, name]));
}
