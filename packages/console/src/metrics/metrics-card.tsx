import { Card, Soft } from '../ui/layout.tsx';
import { Guarded, Loaded } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { Causes } from './causes.tsx';
import styles from './metrics.module.css';
import { InvocationsChart, LatencyChart, nothingText } from './metrics-charts.tsx';
import type { Range } from './range.ts';
import { RangeSwitch } from './range-switch.tsx';
import { StepsTable } from './steps-table.tsx';
import { sumOf } from './sums.ts';
import { type MetricsFilter, type RangeMetrics, useMetrics } from './use-metrics.ts';

export interface MetricsCardProps {
  /** Of the address. */
  range: Range | undefined;
  filter: MetricsFilter;
}

/** What happened with one Proxy, Application or Reactor. */
export default function MetricsCard({ range = 'hour', filter }: MetricsCardProps) {
  return (
    <Card title="Metrics" acts={<RangeSwitch />}>
      <Guarded needs="report:read" what="You cannot see metrics">
        <Metrics range={range} filter={filter} />
      </Guarded>
    </Card>
  );
}

function Metrics({ range, filter }: { range: Range; filter: MetricsFilter }) {
  const query = useMetrics({ range, filter });
  return (
    <Loaded query={query}>
      {(metrics) =>
        sumOf(metrics.requests) ? (
          <div className={styles.all} aria-busy={query.isPlaceholderData}>
            <InvocationsChart metrics={metrics} filter={filter} />
            <div className={styles.pair}>
              <LatencyChart metrics={metrics} filter={filter} />
              <div className={styles.titled}>
                <h3>Errors by cause</h3>
                <Causes metrics={metrics} filter={filter} />
              </div>
            </div>
            <StepsTable metrics={metrics} />
          </div>
        ) : (
          <Nothing metrics={metrics} />
        )
      }
    </Loaded>
  );
}

/** Without invocations the charts would be a page of empty space. */
function Nothing({ metrics }: { metrics: RangeMetrics }) {
  const { requests, known_from: knownFrom } = metrics;
  const isCrowded = requests.includes(null) && !knownFrom;
  if (isCrowded)
    return (
      <Soft>
        The numbers are unknown. More than 200 Proxies, Applications and Reactors in total were in use in that period.
      </Soft>
    );
  return (
    <Soft>
      {nothingText(metrics)}.{' '}
      {knownFrom && (
        <>
          Counting began <Time at={knownFrom} />.
        </>
      )}
    </Soft>
  );
}
