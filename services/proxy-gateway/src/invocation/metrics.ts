import type { Registry } from 'prom-client';
import { createDurationHistogram } from './duration-histogram.ts';
import type { InvocationRecord } from './invocation-record.ts';
import { stages } from './stage-clock.ts';

/** What an invocation had to do beyond passing bytes on. */
const routes = ['forward', 'detokenize', 'transform'] as const;
type Route = (typeof routes)[number];

/** What is measured of each invocation. */
export interface InvocationMetrics {
  finished(record: InvocationRecord, status: number, durationMs: number): void;
}

function routeOf({ hasTransform, tokens }: InvocationRecord): Route {
  if (hasTransform) return 'transform';
  return tokens === undefined ? 'forward' : 'detokenize';
}

/** Statuses up to 999 are passed on; those that no class of RFC 9110 section 15 has are `other`. */
const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx', 'other'];

export function createInvocationMetrics(registry: Registry): InvocationMetrics {
  const durations = createDurationHistogram({
    name: 'sluice_invocation_duration_seconds',
    help: 'From the head of the request to the end of the answer',
    series: routes.flatMap((route) => statusClasses.map((status_class) => ({ route, status_class }))),
    registry,
  });
  const stageDurations = createDurationHistogram({
    name: 'sluice_invocation_stage_duration_seconds',
    help: 'Of each stage that an invocation went through; the destination includes its answer',
    series: stages.map((stage) => ({ stage })),
    registry,
  });
  return {
    finished(record, status, durationMs) {
      const { clock } = record;
      const route = routes.indexOf(routeOf(record));
      durations.observe(
        route * statusClasses.length + Math.min(Math.floor(status / 100), statusClasses.length) - 1,
        durationMs,
      );
      stages.forEach((stage, i) => {
        if (clock.durations[stage] > 0) stageDurations.observe(i, clock.durations[stage]);
      });
    },
  };
}
