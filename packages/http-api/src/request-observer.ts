import type { IncomingMessage } from 'node:http';

/** What is known of a request when its answer is out. Nothing of it was written by the caller. */
export interface RequestOutcome {
  /** As it is declared; undefined where there is no such operation. */
  route: string | undefined;
  status: number;
  errorCode: string | undefined;
  tenantId: string | undefined;
}

export interface ObservedRequest {
  /** Of its span; undefined where traces are off. */
  readonly traceId: string | undefined;
  run(work: () => void): void;
  end(outcome: RequestOutcome): void;
}

/** Told of every request: for metrics and traces, which this package knows nothing of. */
export interface RequestObserver {
  begin(request: IncomingMessage): ObservedRequest;
}
