import type { Database } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { readKeptBytes } from './run.queries.ts';

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

/** @throws {ServiceError} `too_many_requests` if the Tenant's stored results have reached their limit. */
export async function requireRoomForResults(
  db: Database,
  tenantId: string,
  { keptBytes }: Pick<RunLimits, 'keptBytes'>,
): Promise<void> {
  if ((await readKeptBytes(db, tenantId)) < keptBytes) return;
  throw limited(
    'reactor_results',
    'The stored results of this Tenant have reached their limit. Results are deleted 24 hours after their runs',
  );
}

export function limited(limit: string, detail: string): ServiceError {
  return new ServiceError('too_many_requests', detail, { retryAfterSeconds: 10, limit });
}
