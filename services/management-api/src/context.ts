import type { KeyObject } from 'node:crypto';
import type { Act } from '@sluice/audit';
import type { Change } from '@sluice/cache-coherence';
import type { Caller } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import type { DestinationPolicy } from '@sluice/destination-policy';
import { operationsOf } from '@sluice/http-api';
import type { Jobs } from '@sluice/jobs';
import type { TransformPool } from '@sluice/sandbox';
import type { Logger } from '@sluice/service-runtime';
import type { Vault } from '@sluice/vault';

/** What handlers work with. Built once, in service.ts. */
export interface Context {
  db: Database;
  jobs: Jobs;
  vault: Vault;
  /** Compiles transforms when they are written; runs none. */
  transforms: TransformPool;
  destinationPolicy: DestinationPolicy;
  pepper: KeyObject;
  keyEnvironment: string;
  log: Logger;
  /** Tells the holders of caches; call it after commit. */
  announce(change: Change): Promise<void>;
}

export const operation = operationsOf<Context>();

/** Who acts, for the audit row. */
export function actOf(caller: Caller, traceId: string): Act {
  return { tenantId: caller.tenantId, actorId: caller.id, traceId };
}
