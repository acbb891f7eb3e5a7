/** Where asynchronous runs begin. `openRuns` opens it. */
export interface Runs {
  /** Call it after the commit. If the job is lost, the worker's sweep finds the row. */
  begin(tenantId: string, id: string): void;
}

/** Limits for each Tenant. */
export interface RunLimits {
  waiting: number;
  keptBytes: number;
}
