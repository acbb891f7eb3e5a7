/** Busy connections, each with one request at a time. */
export const connections = 32;

/** A request that is repeated: a POST, or a GET where there is no body. */
export interface LoadRequest {
  url: string;
  headers: Record<string, string>;
  body?: string;
}

export interface LoadFigures {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Requests that failed, timed out, or were answered with an error. */
  errors: number;
}

export interface LoadGenerator {
  name: string;
  /** @throws when it cannot run, or the signal is aborted. */
  run(request: LoadRequest, seconds: number, signal: AbortSignal): Promise<LoadFigures>;
}
