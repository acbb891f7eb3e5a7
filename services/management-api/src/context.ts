import type { KeyObject } from 'node:crypto';
import type { ChangeWriter } from '@sluice/cache-coherence';
import type { Callers, KeyUses } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import type { DestinationPolicy } from '@sluice/destination-policy';
import type { FairTurns } from '@sluice/fair-turns';
import { anonymousOperationsOf, operationsOf } from '@sluice/http-api';
import type { FeedStore } from '@sluice/invocation-feed';
import type { Jobs } from '@sluice/redis/jobs';
import type { TransformPool } from '@sluice/sandbox';
import type { Logger } from '@sluice/service-runtime';
import type { Vault } from '@sluice/vault';
import type { Issuer } from './people/issuers/issuer.ts';
import type { FailedSignIns } from './people/sign-ins/failed-sign-ins.ts';
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
  keyUses: KeyUses;
  keyEnvironment: string;
  /** Of Sluice's own headers. */
  headerPrefix: string;
  sessionLimits: SessionLimits;
  sessionFigures: SessionFigures;
  /**
   * Two queues, because anybody with a public key can create sessions, and a flood of these must not delay
   * authorizations.
   */
  sessionQueues: { making: TenantQueue; authorizing: TenantQueue };
  failedSignIns: FailedSignIns;
  /** Absent if no console is served. */
  consoleUrl: string | undefined;
  /** By name. */
  issuers: ReadonlyMap<string, Issuer>;
  /** Whether people can sign in by one-time links, and accept invitations without an issuer. */
  linkSignIn: boolean;
  exportTurns: FairTurns;
  feed: FeedStore;
  log: Logger;
  changes: ChangeWriter;
}

export const operation = operationsOf<Context>();
export const anonymousOperation = anonymousOperationsOf<Context>();
