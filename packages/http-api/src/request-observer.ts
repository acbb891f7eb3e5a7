import type { IncomingMessage } from 'node:http';

/** What is known of a request after its answer, from the service's own code and never from the caller. */
export interface RequestOutcome {
  /** The declared route; undefined where there is no such operation. */
  route: string | undefined;
  status: number;
  errorCode: string | undefined;
  /** The limit that is the reason of the error. */
  limit: string | undefined;
  tenantId: string | undefined;
}

export interface ObservedRequest {
  /** The id of the span; undefined where traces are off. */
  readonly traceId: string | undefined;
  run(work: () => void): void;
  end(outcome: RequestOutcome): void;
}

/** Observes every request for metrics and traces, which this package does not know. */
export interface RequestObserver {
  begin(request: IncomingMessage): ObservedRequest;
}
