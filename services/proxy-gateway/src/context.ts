import type { KeyObject } from 'node:crypto';
import type { BodyBytes } from '@sluice/body-bytes';
import type { GuardedCache } from '@sluice/cache-coherence';
import type { Callers, Invalidations, KeyUses } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import type { HostOf, OwnHosts } from '@sluice/hosts';
import type { TransformPool } from '@sluice/sandbox';
import type { Logger, Tracing } from '@sluice/service-runtime';
import type { Vault } from '@sluice/vault';
import type { Destinations } from './destination/index.ts';
import type { HeaderNames } from './http/header-names.ts';
import type { Budgets } from './limits/budgets.ts';
import type { Decodings } from './limits/decodings.ts';
import type { RateLimits } from './limits/rate-limits.ts';
import type { Refusals } from './limits/refusals.ts';
import type { TenantPlaces } from './limits/tenant-places.ts';
import type { NoteEnded } from './observation/ended.ts';
import type { InvocationMetrics } from './observation/metrics.ts';
import type { ProxyDefinition } from './proxies/definition.ts';
import type { ReactorDefinition } from './reactors/definition.ts';
import type { ReactorPlaces } from './reactors/places.ts';
import type { RunLimits, Runs } from './reactors/runs/runs.ts';

/** The dependencies of an invocation's steps, built once in service.ts. */
export interface Context {
  db: Database;
  vault: Vault;
  caches: Invalidations;
  callers: Callers;
  proxies: GuardedCache<ProxyDefinition>;
  destinations: Destinations;
  transforms: TransformPool;
  reactors: GuardedCache<ReactorDefinition>;
  reactorPool: TransformPool;
  reactorPlaces: ReactorPlaces;
  /** Time limit of one call of react. */
  reactorWallMs: number;
  runs: Runs;
  runLimits: RunLimits;
  logsConsole: boolean;
  pepper: KeyObject;
  keyUses: KeyUses;
  headerNames: HeaderNames;
  hostOf: HostOf;
  ownHosts: OwnHosts;
  showsTiming: boolean;
  bodyLimitBytes: number;
  bodyTimeoutMs: number;
  rateLimits: RateLimits | undefined;
  places: TenantPlaces;
  refusals: Refusals;
  budgets: Budgets;
  bodyBytes: BodyBytes;
  decodings: Decodings;
  workPieces: Vault['workPieces'];
  metrics: InvocationMetrics;
  /** Where every invocation and every run goes when it has ended. */
  noteEnded: NoteEnded;
  tracing: Tracing | undefined;
  tellsDestinations: boolean;
  log: Logger;
}
