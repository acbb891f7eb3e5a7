import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { Page } from '../../ui/layout.tsx';
import { Guarded, Loaded } from '../../ui/states.tsx';
import { FirstSteps } from './first-steps.tsx';
import { LastHour } from './last-hour.tsx';

export function Overview() {
  const { tenant } = useMe();
  return (
    <Page title="Overview" intro={`What happens in ${tenant.name}, in the last hour.`}>
      <Guarded needs="report:read" what="You cannot see the figures of this Tenant">
        <Figures />
      </Guarded>
    </Page>
  );
}

function Figures() {
  const query = useQuery({
    queryKey: ['tenant', 'metrics'],
    queryFn: ({ signal }) => sluice.tenant.metrics({}, { signal }),
    refetchInterval: 10_000,
  });
  return (
    <Loaded query={query}>
      {(metrics) => {
        const isQuiet = metrics.requests.every((count) => !count);
        return (
          <>
            {isQuiet && <FirstSteps />}
            {!isQuiet && <LastHour metrics={metrics} />}
          </>
        );
      }}
    </Loaded>
  );
}
