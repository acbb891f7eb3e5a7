import { Link } from '@tanstack/react-router';
import { whyRefused } from '../screens/invocations/refusals.ts';
import { Soft } from '../ui/layout.tsx';
import { statusOf } from './cause-status.ts';
import styles from './metrics.module.css';
import { ranges } from './range.ts';
import { countText, sumOf } from './sums.ts';
import type { MetricsFilter, RangeMetrics } from './use-metrics.ts';

/** Our errors by code, the most frequent first. Each leads to the invocations that ended with its status. */
export function Causes({ metrics, filter }: { metrics: RangeMetrics; filter: MetricsFilter }) {
  const { last } = ranges[metrics.range];
  const causes = Object.entries(metrics.errors)
    .map(([cause, counts]) => ({ cause, count: sumOf(counts) ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
  const most = causes[0]?.count ?? 0;
  const isKnown = sumOf(metrics.requests) !== undefined;
  if (most === 0) return <Soft>{isKnown ? `Nothing failed in the last ${last}.` : 'No data yet.'}</Soft>;
  return (
    <ul className={styles.causes}>
      {causes.map(({ cause, count }) => {
        const status = statusOf(cause);
        return (
          <li key={cause} className={styles.cause}>
            <span>
              <Link to="/invocations" search={{ ...filter, ...(status && { status }) }}>
                {whyRefused(cause)}
              </Link>{' '}
              <small>
                <code>{cause}</code>
              </small>
            </span>
            <span>{countText(count)}</span>
            <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
              <rect width={(100 * count) / most} height="1" />
            </svg>
          </li>
        );
      })}
    </ul>
  );
}
