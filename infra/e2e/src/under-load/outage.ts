import type { History } from '../coherence/history.ts';
import { countBy, durationMs, percentiles } from './count.ts';
import type { Probed } from './probes.ts';
import type { Disturbance } from './run.ts';

/** From when on Postgres answered nobody, and until when. Moments of the test's own monotonic clock. */
export interface Outage {
  from: number;
  until: number;
}

/** How long a lease lasts, and a little for what Postgres answered while it went away. */
const leaseMs = 2000 + 200;

/** While Postgres is away what is cached is served for as long as a lease lasts, and after that nothing is. */
export function judgeOutage(cached: readonly Probed[], { invocations }: History, { from, until }: Outage): Disturbance {
  const isDuring = ({ startedAt, endedAt }: { startedAt: number; endedAt: number }) =>
    startedAt > from && endedAt < until;
  const isLate = ({ startedAt }: { startedAt: number }) => startedAt > from + leaseMs;
  const during = cached.filter(isDuring);
  const served = during.filter(({ detail }) => detail === '200');
  const late = during.filter(isLate);
  const unavailable = [...cached, ...invocations].filter(({ detail }) => detail === '503');
  const unexplained = unavailable.filter(({ retryAfter }) => !/^\d+$/.test(retryAfter ?? ''));
  const decided = [
    ...late.filter(({ detail }) => /^[24]/.test(detail)),
    ...invocations.filter((one) => isDuring(one) && isLate(one) && one.outcome !== 'undecided'),
  ];
  const lastServed = Math.max(0, ...served.map(({ startedAt }) => startedAt - from));
  return {
    figures: [
      [
        'while it was away: a cached key',
        `${countBy(during, ({ detail }) => detail)}; last served after ${lastServed.toFixed(0)} ms`,
      ],
      [
        '503 then came after p50 / max',
        percentiles(late.filter(({ detail }) => detail === '503').map(durationMs), [0.5, 1]),
      ],
      ['503 without Retry-After', `${unexplained.length} of ${unavailable.length}`],
    ],
    failures: [
      ...(served.length > 0 ? [] : ['nothing cached was served while Postgres was away']),
      ...(late.some(({ detail }) => detail === '503') ? [] : ['nothing was answered 503 after the leases had ended']),
      ...decided
        .slice(0, 1)
        .map(
          ({ target, detail, startedAt }) =>
            `${decided.length} keys were judged without a lease: ${target} answered ${detail}, ${Math.round(startedAt - from)} ms after Postgres went away`,
        ),
      ...(unexplained.length > 0 ? [`${unexplained.length} answers 503 do not say when to try again`] : []),
    ],
  };
}
