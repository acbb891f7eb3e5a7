import type { TenantMetrics } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';
import { Chart } from '../../ui/chart.tsx';
import { Card, Soft } from '../../ui/layout.tsx';
import styles from './overview.module.css';

const count = new Intl.NumberFormat();
const milliseconds = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
const sum = (values: readonly (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);

export function LastHour({ metrics }: { metrics: TenantMetrics }) {
  const { from, to, requests, latency_ms: latency } = metrics;
  const total = sum(requests);
  const causes = Object.entries(metrics.errors)
    .map(([cause, values]) => ({ cause, failed: sum(values) }))
    .filter(({ failed }) => failed > 0)
    .sort((a, b) => b.failed - a.failed);
  const failed = sum(causes.map((each) => each.failed));
  const p50 = lastOf(latency.p50);
  const p99 = lastOf(latency.p99);
  return (
    <>
      <dl className={styles.tiles}>
        <Tile name="Invocations" value={count.format(total)} about="in the last hour" />
        <Tile
          name="Failed"
          value={count.format(failed)}
          about={`${new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 2 }).format(failed / total)} of all`}
        />
        <Tile
          name="Latency"
          value={p50 === undefined ? '–' : milliseconds(p50)}
          about={p99 === undefined ? '' : `99 % below ${milliseconds(p99)}`}
        />
        <Tokens />
      </dl>
      <Card title="Invocations a minute">
        <Chart
          label={`Invocations a minute: ${count.format(total)} in the last hour`}
          from={from}
          to={to}
          series={[{ name: 'Invocations', values: requests }]}
          format={(value) => count.format(value)}
        />
      </Card>
      <div className={styles.pair}>
        <Card title="Latency">
          <Chart
            label={`Latency: median ${p50 === undefined ? 'unknown' : milliseconds(p50)}`}
            from={from}
            to={to}
            series={[
              { name: 'Median', values: latency.p50 },
              { name: '99th percentile', values: latency.p99 },
            ]}
            format={milliseconds}
          />
        </Card>
        <Card title="Errors by cause">
          {causes.length === 0 && <Soft>Nothing failed in the last hour.</Soft>}
          <ul className={styles.causes}>
            {causes.map((each) => (
              <li key={each.cause} className={styles.cause}>
                <code>{each.cause}</code>
                <span>{count.format(each.failed)}</span>
                <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={(100 * each.failed) / failed} height="1" />
                </svg>
              </li>
            ))}
          </ul>
        </Card>
      </div>
    </>
  );
}

function Tokens() {
  const { data } = useQuery({
    queryKey: ['tenant', 'usage'],
    queryFn: ({ signal }) => sluice.tenant.usage({ signal }),
  });
  if (!data) return null;
  const { metrics_by_type: byType, monthly_active_tokens: active } = data.token_report;
  const all = sum(Object.values(byType).map((each) => each.count));
  return <Tile name="Tokens" value={count.format(all)} about={`${count.format(active)} active this month`} />;
}

function Tile({ name, value, about }: { name: string; value: string; about: string }) {
  return (
    <div className={styles.tile}>
      <dt>{name}</dt>
      <dd>
        {value}
        <small>{about}</small>
      </dd>
    </div>
  );
}

function lastOf(values: readonly (number | null)[]): number | undefined {
  return values.findLast((value) => value !== null) ?? undefined;
}
