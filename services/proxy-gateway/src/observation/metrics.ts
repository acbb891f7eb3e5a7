import { errorCodes } from '@sluice/problems';
import { durationHistogram, statusClasses, statusClassIndex } from '@sluice/service-runtime';
import { Counter, type Registry } from 'prom-client';
import { type StageClock, stages } from './stage-clock.ts';

const routes = ['forward', 'detokenize', 'transform'] as const;
type Route = (typeof routes)[number];

interface Measured {
  clock: StageClock;
  tokens?: number | undefined;
  hasTransform?: boolean;
  errorCode?: string | undefined;
}

export interface InvocationMetrics {
  finished(invocation: Measured, status: number, durationMs: number): void;
  /** How many values the response guard found in one response. */
  guardFound(hits: number): void;
}

function routeOf({ hasTransform, tokens }: Measured): Route {
  if (hasTransform) return 'transform';
  return tokens === undefined ? 'forward' : 'detokenize';
}

export function invocationMetrics(registry: Registry): InvocationMetrics {
  const durations = durationHistogram({
    name: 'sluice_invocation_duration_seconds',
    help: 'Time from the request head to the end of the response',
    series: routes.flatMap((route) => statusClasses.map((status_class) => ({ route, status_class }))),
    registry,
  });
  const stageDurations = durationHistogram({
    name: 'sluice_invocation_stage_duration_seconds',
    help: 'Duration of each stage. stage="destination" lasts until the end of the response of the destination',
    series: stages.map((stage) => ({ stage })),
    registry,
  });
  const errors = new Counter({
    name: 'sluice_invocation_errors_total',
    help: 'Invocations that ended with a proxy_error or whose caller disconnected',
    labelNames: ['code'],
    registers: [registry],
  });
  for (const code of [...Object.keys(errorCodes), 'caller_gone']) errors.inc({ code }, 0);
  const guardHits = new Counter({
    name: 'sluice_response_guard_hits_total',
    help: 'Values of tokens and configurations that response guards found in responses',
    registers: [registry],
  });
  return {
    guardFound: (hits) => guardHits.inc(hits),
    finished(invocation, status, durationMs) {
      const { clock, errorCode } = invocation;
      if (errorCode !== undefined) errors.inc({ code: errorCode });
      const route = routes.indexOf(routeOf(invocation));
      durations.observe(route * statusClasses.length + statusClassIndex(status), durationMs);
      const { authenticate, detokenize, transform, destination } = clock.durations;
      if (authenticate > 0) stageDurations.observe(0, authenticate);
      if (detokenize > 0) stageDurations.observe(1, detokenize);
      if (transform > 0) stageDurations.observe(2, transform);
      if (destination > 0) stageDurations.observe(3, destination);
    },
  };
}
