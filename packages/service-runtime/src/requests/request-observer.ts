import type { IncomingMessage } from 'node:http';
import { Counter, type Registry } from 'prom-client';
import { durationHistogram } from '../metrics/duration-histogram.ts';
import { exportGauge } from '../metrics/measured.ts';
import { statusClasses, statusClassIndex } from '../metrics/status-classes.ts';
import type { Tracing } from '../tracing/tracing.ts';

export interface RequestObserverOptions {
  /** `POST /tokens`: method and route of every operation. */
  operations: readonly string[];
  errorCodes: readonly string[];
  /** Counted here by their names, or by whoever has a counter of its own. */
  limits: readonly string[] | ((limit: string) => void);
  metrics: Registry;
  tracing: Tracing | undefined;
}

/** Facts that the service itself knows; nothing comes from the caller. */
export interface RequestOutcome {
  /** As declared; undefined where there is no such operation. */
  route: string | undefined;
  status: number;
  errorCode: string | undefined;
  limit: string | undefined;
  tenantId: string | undefined;
  traceId: string;
  /** False if the caller closed the connection before the end of its response. */
  isComplete: boolean;
}

interface ObservedRequest {
  readonly traceId: string | undefined;
  run(work: () => void): void;
  end(outcome: RequestOutcome): void;
}

export interface RequestObserver {
  begin(request: IncomingMessage): ObservedRequest;
}

export function requestObserver(options: RequestObserverOptions): RequestObserver {
  const { errorCodes, limits, metrics, tracing } = options;
  const operations = [...options.operations, 'other'];
  const indexes = new Map(operations.map((operation, index) => [operation, index]));
  let inFlight = 0;
  const durations = durationHistogram({
    name: 'sluice_http_request_duration_seconds',
    help: 'Time from the request head to the end of the response',
    series: operations.flatMap((operation) => statusClasses.map((status_class) => ({ operation, status_class }))),
    registry: metrics,
  });
  exportGauge(metrics, {
    name: 'sluice_http_requests_in_flight',
    help: 'Requests in progress',
    read: () => inFlight,
  });
  const errors = new Counter({
    name: 'sluice_http_errors_total',
    help: 'Requests that got a problem document, by code',
    labelNames: ['code'],
    registers: [metrics],
  });
  for (const code of errorCodes) errors.inc({ code }, 0);
  const noteLimit = typeof limits === 'function' ? limits : countLimits(limits, metrics);

  return {
    begin({ method = '', headers }) {
      const startedAt = performance.now();
      const span = tracing?.beginRequest(method, headers.traceparent);
      inFlight += 1;
      return {
        traceId: span?.traceId,
        run: (work) => {
          if (tracing && span) tracing.runIn(span, work);
          else work();
        },
        end(outcome) {
          const { route, status, errorCode, limit } = outcome;
          inFlight -= 1;
          const operation = indexes.get(`${method} ${route}`) ?? operations.length - 1;
          durations.observe(operation * statusClasses.length + statusClassIndex(status), performance.now() - startedAt);
          if (errorCode !== undefined) errors.inc({ code: errorCode });
          if (limit !== undefined) noteLimit(limit);
          span?.end({ ...outcome, method }, { name: route === undefined ? method : `${method} ${route}` });
        },
      };
    },
  };
}

function countLimits(limits: readonly string[], metrics: Registry): (limit: string) => void {
  const refusals = new Counter({
    name: 'sluice_limit_refusals_total',
    help: 'Requests refused by a limit. limit="field_errors" counts responses whose list of errors was cut off',
    labelNames: ['limit'],
    registers: [metrics],
  });
  for (const limit of limits) refusals.inc({ limit }, 0);
  return (limit) => refusals.inc({ limit });
}
