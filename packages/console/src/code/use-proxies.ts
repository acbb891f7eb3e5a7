import type { Proxy as ProxyResource } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../api/client.ts';
import { useMe } from '../api/me.ts';

/** The newest 100 Proxies, to choose from. Undefined until they are read, and for a person who may not see Proxies. */
export function useProxies(): readonly ProxyResource[] | undefined {
  const { permissions } = useMe();
  const { data } = useQuery({
    queryKey: ['proxies', 'to choose'],
    queryFn: ({ signal }) => sluice.proxies.list({ size: 100 }, { signal }).page(),
    enabled: permissions.includes('proxy:read'),
  });
  return data?.data;
}
