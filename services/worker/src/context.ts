import type { Change } from '@sluice/cache-coherence';
import type { Database } from '@sluice/database';
import type { Logger } from '@sluice/service-runtime';

/** What jobs and sweeps work with. Built once, in service.ts. */
export interface Context {
  db: Database;
  log: Logger;
  /** Tells the holders of caches; call it after commit. */
  announce(change: Change): Promise<void>;
}
