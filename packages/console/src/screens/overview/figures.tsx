import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';
import { Causes } from '../../metrics/causes.tsx';
import { InvocationsChart, LatencyChart } from '../../metrics/metrics-charts.tsx';
import { ranges } from '../../metrics/range.ts';
import { StepsTable } from '../../metrics/steps-table.tsx';
import { countText, failuresOf, millisecondsText, shareText, sumOf } from '../../metrics/sums.ts';
import type { RangeMetrics } from '../../metrics/use-metrics.ts';
import { Card } from '../../ui/layout.tsx';
import styles from './overview.module.css';

const all = {};

/** What happened in the whole Tenant. */
export function Figures({ metrics, isFormer }: { metrics: RangeMetrics; isFormer: boolean }) {
  return (
    <div className={styles.figures} aria-busy={isFormer}>
      <Tiles metrics={metrics} />
      <Card title={`Invocations ${ranges[metrics.range].perStep}`}>
        <InvocationsChart metrics={metrics} filter={all} />
        <StepsTable metrics={metrics} />
      </Card>
      <div className={styles.pair}>
        <Card title="Latency">
          <LatencyChart metrics={metrics} filter={all} />
        </Card>
        <Card title="Errors by cause" intro="Each cause links to the list of its invocations in the last 15 minutes.">
          <Causes metrics={metrics} filter={all} />
        </Card>
      </div>
    </div>
  );
}

function Tiles({ metrics }: { metrics: RangeMetrics }) {
  const { requests, destination_errors: destinationErrors, latency_ms: latency, range } = metrics;
  const total = sumOf(requests);
  const failed = sumOf(failuresOf(metrics));
  const theirs = sumOf(destinationErrors);
  const newest = latency.p50.findLastIndex((value) => value !== null);
  const inRange = total === undefined ? 'no data yet' : `in the last ${ranges[range].last}`;
  return (
    <dl className={styles.tiles}>
      <Tile name="Invocations" value={countText(total)} about={inRange} />
      <Tile
        name="Failed"
        value={countText(failed)}
        about={shareText(failed, total)}
        meaning="Sluice itself answered, with an error code"
      />
      <Tile
        name="Destination errors"
        value={countText(theirs)}
        about={shareText(theirs, total)}
        meaning="The destination answered 500 or above"
      />
      <Tile
        name="Latency, latest"
        value={millisecondsText(latency.p50[newest])}
        about={newest < 0 ? '' : `99% below ${millisecondsText(latency.p99[newest])}`}
      />
      <Tokens />
    </dl>
  );
}

function Tokens() {
  const { data } = useQuery({
    queryKey: ['tenant', 'usage'],
    queryFn: ({ signal }) => sluice.tenant.usage({ signal }),
  });
  if (!data) return null;
  const { metrics_by_type: byType, monthly_active_tokens: active } = data.token_report;
  const count = sumOf(Object.values(byType).map((each) => each.count)) ?? 0;
  return <Tile name="Tokens" value={countText(count)} about={`${countText(active)} active this month`} />;
}

interface TileProps {
  name: string;
  value: string;
  about: string;
  /** What counts, where the name does not say it. */
  meaning?: string;
}

function Tile({ name, value, about, meaning }: TileProps) {
  return (
    <div className={styles.tile}>
      <dt>{name}</dt>
      <dd>
        {value}
        <small>{about}</small>
        {meaning && <small>{meaning}</small>}
      </dd>
    </div>
  );
}
