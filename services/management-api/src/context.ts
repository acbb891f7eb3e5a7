import type { KeyObject } from 'node:crypto';
import type { ChangeWriter } from '@sluice/cache-coherence';
import type { Callers } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import type { DestinationPolicy } from '@sluice/destination-policy';
import { operationsOf } from '@sluice/http-api';
import type { Jobs } from '@sluice/jobs';
import type { TransformPool } from '@sluice/sandbox';
import type { Logger } from '@sluice/service-runtime';
import type { Vault } from '@sluice/vault';
import type { ExportTurns } from './logs/export-turns.ts';
import type { SessionFigures, SessionLimits } from './sessions/session.limits.ts';
import type { TenantQueue } from './sessions/tenant-queue.ts';

export interface Context {
  db: Database;
  jobs: Jobs;
  vault: Vault;
  transforms: Pick<TransformPool, 'compile'>;
  trials(): TransformPool;
  destinationPolicy: DestinationPolicy;
  /** Reads Postgres at each request, because this service changes callers and does not cache configuration. */
  callers: Callers;
  pepper: KeyObject;
  keyEnvironment: string;
  sessionLimits: SessionLimits;
  sessionFigures: SessionFigures;
  /** Beside each other, because public keys make sessions, and a flood of them must not keep any from being authorized. */
  sessionQueues: { making: TenantQueue; authorizing: TenantQueue };
  exportTurns: ExportTurns;
  log: Logger;
  changes: ChangeWriter;
}

export const operation = operationsOf<Context>();
