import type { GetTenantMetricsData } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../api/client.ts';
import { type Range, ranges } from './range.ts';

type Query = NonNullable<GetTenantMetricsData['query']>;

/** Of one Proxy, Application or Reactor; of all, if it is empty. */
export type MetricsFilter = Pick<Query, 'proxy_id' | 'application_id' | 'reactor_id'>;

interface MetricsOptions {
  range: Range;
  filter?: MetricsFilter;
  enabled?: boolean;
}

/** The figures of a range. They are read again while the page is seen; in a hidden tab they are not. */
export function useMetrics({ range, filter = {}, enabled = true }: MetricsOptions) {
  const of = JSON.stringify(filter);
  return useQuery({
    queryKey: ['metrics', of, range],
    queryFn: async ({ signal }) => ({ range, ...(await sluice.tenant.metrics({ ...filter, range }, { signal })) }),
    refetchInterval: ranges[range].pollMs,
    // Another range of the same thing stays until the new one is there. Figures of another thing would be wrong.
    placeholderData: (former, query) => (query?.queryKey[1] === of ? former : undefined),
    enabled,
  });
}

export type RangeMetrics = NonNullable<ReturnType<typeof useMetrics>['data']>;
