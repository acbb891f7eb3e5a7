import type { KeyObject } from 'node:crypto';
import type { BodyBytes } from '@sluice/body-bytes';
import type { GuardedCache } from '@sluice/cache-coherence';
import type { Callers } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import type { TransformPool } from '@sluice/sandbox';
import type { Logger, Tracing, WorkPieces } from '@sluice/service-runtime';
import type { Vault } from '@sluice/vault';
import type { Budgets } from './budgets/budgets.ts';
import type { Decodings } from './budgets/decodings.ts';
import type { Destinations } from './destination/index.ts';
import type { HeaderNames } from './http/header-names.ts';
import type { RateLimits } from './limits/rate-limits.ts';
import type { Refusals } from './limits/refusals.ts';
import type { TenantPlaces } from './limits/tenant-places.ts';
import type { InvocationMetrics } from './observation/metrics.ts';
import type { ProxyDefinition } from './proxies/definition.ts';

/** The dependencies of an invocation's steps, built once in service.ts. */
export interface Context {
  db: Database;
  vault: Vault;
  callers: Callers;
  proxies: GuardedCache<ProxyDefinition>;
  destinations: Destinations;
  transforms: TransformPool;
  logsConsole: boolean;
  pepper: KeyObject;
  headerNames: HeaderNames;
  showsTiming: boolean;
  bodyLimitBytes: number;
  bodyTimeoutMs: number;
  rateLimits: RateLimits | undefined;
  places: TenantPlaces;
  refusals: Refusals;
  budgets: Budgets;
  bodyBytes: BodyBytes;
  /** Decides which large decoders of a Tenant may reserve their part of `bodyBytes`. */
  decoderBytes: BodyBytes;
  decodings: Decodings;
  workPieces: WorkPieces;
  metrics: InvocationMetrics;
  tracing: Tracing | undefined;
  tellsDestinations: boolean;
  log: Logger;
}
