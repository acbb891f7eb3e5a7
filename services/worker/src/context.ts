import type { ChangeWriter } from '@sluice/cache-coherence';
import type { Database } from '@sluice/database';
import type { Logger } from '@sluice/service-runtime';
import type { WorkerMetrics } from './metrics.ts';

/** The dependencies of jobs and sweeps, built once in service.ts. */
export interface Context {
  db: Database;
  log: Logger;
  /** Tells every process that caches about a change, and waits until none serves the old state. */
  changes: ChangeWriter;
  metrics: WorkerMetrics;
}
