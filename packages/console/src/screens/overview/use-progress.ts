import type { Application, DescribedToken, Proxy as ProxyResource } from '@sluice/sdk';
import { sluice } from '../../api/client.ts';
import { useNewest, useNewestApplication, useNewestProxy, useNewestToken } from '../../code/use-newest.ts';
import { sumOf } from '../../metrics/sums.ts';
import { type RangeMetrics, useMetrics } from '../../metrics/use-metrics.ts';

/** The newest of each that exists and that the person may see. */
export interface Progress {
  application: Application | null;
  token: DescribedToken | null;
  proxy: ProxyResource | null;
}

/**
 * How far a new Tenant is on the way to its first invocation, by what exists. `invoked` once there was one: in the figures on the
 * screen, in those of the month, or in the audit log. It is also said of a Tenant with something older than the figures, because
 * its past is unknown. Undefined while that is not known.
 */
export function useProgress(shown: RangeMetrics | undefined): Progress | 'invoked' | undefined {
  const isQuiet = shown !== undefined && !hasInvocations(shown);
  const month = useMetrics({ range: 'month', enabled: isQuiet });
  const isQuietMonth = isQuiet && month.data !== undefined && !hasInvocations(month.data);
  const used = useNewest({
    ...{ of: 'uses of tokens', needs: 'log:read', enabled: isQuietMonth },
    list: (signal) => sluice.logs.list({ operation: 'use', size: 1 }, { signal }).page(),
  });
  const isNew = isQuietMonth && used === null;
  const application = useNewestApplication(isNew);
  const token = useNewestToken(isNew);
  const proxy = useNewestProxy(isNew);
  if (shown === undefined) return undefined;
  // If the month cannot be read, nothing is known about it, so the page does not claim that nothing was ever invoked.
  if (!isQuiet || month.isError || used || (month.data && hasInvocations(month.data))) return 'invoked';
  if (!isNew || application === undefined || token === undefined || proxy === undefined) return undefined;
  const { known_from: knownFrom = '' } = month.data;
  const isOlder = [application, token, proxy].some((one) => one?.created_at && one.created_at < knownFrom);
  return isOlder ? 'invoked' : { application, token, proxy };
}

function hasInvocations({ requests }: RangeMetrics): boolean {
  return (sumOf(requests) ?? 0) > 0;
}
