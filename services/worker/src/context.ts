import type { ChangeWriter } from '@sluice/cache-coherence';
import type { Database } from '@sluice/database';
import type { Logger } from '@sluice/service-runtime';
import type { WorkerMetrics } from './metrics.ts';

export interface Context {
  db: Database;
  log: Logger;
  changes: ChangeWriter;
  metrics: WorkerMetrics;
}
