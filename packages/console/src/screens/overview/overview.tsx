import { getRouteApi } from '@tanstack/react-router';
import { useMe } from '../../api/me.ts';
import type { Range } from '../../metrics/range.ts';
import { RangeSwitch } from '../../metrics/range-switch.tsx';
import { useMetrics } from '../../metrics/use-metrics.ts';
import { Page } from '../../ui/layout.tsx';
import { Guarded, Loaded, Loading } from '../../ui/states.tsx';
import { Figures } from './figures.tsx';
import { FirstSteps } from './first-steps.tsx';
import { useProgress } from './use-progress.ts';

const route = getRouteApi('/');

export function Overview() {
  const { tenant } = useMe();
  const { range = 'hour' } = route.useSearch();
  return (
    <Page title="Overview" intro={`What happens in ${tenant.name}.`} acts={<RangeSwitch />}>
      <Guarded needs="report:read" what="You cannot see the figures of this Tenant">
        <Content range={range} />
      </Guarded>
    </Page>
  );
}

function Content({ range }: { range: Range }) {
  const query = useMetrics({ range });
  const progress = useProgress(query.data);
  return (
    <Loaded query={query}>
      {(metrics) => {
        if (progress === undefined) return <Loading />;
        if (progress === 'invoked') return <Figures metrics={metrics} isFormer={query.isPlaceholderData} />;
        return <FirstSteps progress={progress} />;
      }}
    </Loaded>
  );
}
