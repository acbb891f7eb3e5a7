import type { IncomingMessage } from 'node:http';

/** Facts that the service itself knows; nothing comes from the caller. */
export interface RequestOutcome {
  route: string | undefined;
  status: number;
  errorCode: string | undefined;
  limit: string | undefined;
  tenantId: string | undefined;
  traceId: string;
  /** False if the caller closed the connection before the end of its response. */
  isComplete: boolean;
}

export interface ObservedRequest {
  readonly traceId: string | undefined;
  run(work: () => void): void;
  end(outcome: RequestOutcome): void;
}

export interface RequestObserver {
  begin(request: IncomingMessage): ObservedRequest;
}
