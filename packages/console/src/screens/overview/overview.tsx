import { getRouteApi } from '@tanstack/react-router';
import { useMe, useMissingRight } from '../../api/me.ts';
import { RangeSwitch } from '../../metrics/range-switch.tsx';
import { useMetrics } from '../../metrics/use-metrics.ts';
import { Page } from '../../ui/layout.tsx';
import { Guarded, Loaded, Loading } from '../../ui/states.tsx';
import { Figures } from './figures.tsx';
import { FirstSteps } from './first-steps.tsx';
import { useProgress } from './use-progress.ts';

const route = getRouteApi('/');

export function Overview() {
  const { range = 'hour' } = route.useSearch();
  const query = useMetrics({ range, enabled: useMissingRight('report:read') === undefined });
  const progress = useProgress(query.data);
  const { tenant } = useMe();
  return (
    <Page
      title="Overview"
      intro={`What happens in ${tenant.name}.`}
      acts={progress === 'invoked' ? <RangeSwitch /> : undefined}
    >
      <Guarded needs="report:read" what="You cannot see the figures of this Tenant">
        <Loaded query={query}>
          {(metrics) => {
            if (progress === undefined) return <Loading />;
            if (progress === 'invoked') return <Figures metrics={metrics} isFormer={query.isPlaceholderData} />;
            return <FirstSteps progress={progress} />;
          }}
        </Loaded>
      </Guarded>
    </Page>
  );
}
