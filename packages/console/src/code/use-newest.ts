import type { Application, DescribedToken, PermissionName, Proxy as ProxyResource } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../api/client.ts';
import { useMe } from '../api/me.ts';

interface Newest<Item> {
  /** In the keys of queries. */
  of: string;
  needs: PermissionName;
  list: (signal: AbortSignal) => Promise<{ data: Item[] }>;
  enabled: boolean;
}

/** Null if there is none, or if the person may not see it; undefined until that is known. Looks again now and then. */
export function useNewest<Item>({ of, needs, list, enabled }: Newest<Item>): Item | null | undefined {
  const { permissions } = useMe();
  const isVisible = permissions.includes(needs);
  const { data, isError } = useQuery({
    queryKey: [of, 'newest'],
    queryFn: async ({ signal }) => (await list(signal)).data[0] ?? null,
    enabled: enabled && isVisible,
    refetchInterval: 10_000,
  });
  return !isVisible || isError ? null : data;
}

export function useNewestApplication(enabled = true): Application | null | undefined {
  return useNewest({
    ...{ of: 'applications', needs: 'application:read', enabled },
    list: (signal) => sluice.applications.list({ type: 'private', size: 1 }, { signal }).page(),
  });
}

export function useNewestToken(enabled = true): DescribedToken | null | undefined {
  return useNewest({
    ...{ of: 'tokens', needs: 'application:read', enabled },
    list: (signal) => sluice.tokens.list({ size: 1 }, { signal }).page(),
  });
}

export function useNewestProxy(enabled = true): ProxyResource | null | undefined {
  return useNewest({
    ...{ of: 'proxies', needs: 'proxy:read', enabled },
    list: (signal) => sluice.proxies.list({ size: 1 }, { signal }).page(),
  });
}
