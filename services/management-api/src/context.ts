import type { KeyObject } from 'node:crypto';
import type { Act } from '@sluice/audit';
import type { ChangeWriter } from '@sluice/cache-coherence';
import type { Caller, Callers } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import type { DestinationPolicy } from '@sluice/destination-policy';
import { operationsOf } from '@sluice/http-api';
import type { Jobs } from '@sluice/jobs';
import type { TransformPool } from '@sluice/sandbox';
import type { Logger } from '@sluice/service-runtime';
import type { Vault } from '@sluice/vault';
import type { SessionFigures, SessionLimits } from './sessions/session.limits.ts';
import type { TenantQueue } from './sessions/tenant-queue.ts';

/** What handlers work with. Built once, in service.ts. */
export interface Context {
  db: Database;
  jobs: Jobs;
  vault: Vault;
  /** Compiles transforms when they are written; runs none. */
  transforms: TransformPool;
  /** Tries transforms for those who write them. */
  trials(): TransformPool;
  destinationPolicy: DestinationPolicy;
  /** Read from Postgres at each request: configuration is not cached where it is changed. */
  callers: Callers;
  pepper: KeyObject;
  keyEnvironment: string;
  sessionLimits: SessionLimits;
  sessionFigures: SessionFigures;
  /** Makes and authorizes sessions, those of a Tenant one after another. */
  sessionQueue: TenantQueue;
  log: Logger;
  /** Tells every process that caches what changed, and waits until none serves the old state. */
  changes: ChangeWriter;
}

export const operation = operationsOf<Context>();

/** Who acts, for the audit row. */
export function actOf(caller: Caller, traceId: string): Act {
  const actorType = caller.type === 'session' ? 'session' : 'application';
  return { tenantId: caller.tenantId, actorId: caller.id, actorType, traceId };
}
