import { queryOptions } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';

/** One Proxy, which all its tabs show. */
export const proxyQuery = (id: string) =>
  queryOptions({ queryKey: ['proxies', id], queryFn: ({ signal }) => sluice.proxies.get(id, { signal }) });
