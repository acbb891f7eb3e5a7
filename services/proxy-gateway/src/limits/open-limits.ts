import { bodyBytesFrom } from '@sluice/body-bytes';
import type { Logger } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';
import type { Config } from '../config.ts';
import type { Destinations } from '../destination/index.ts';
import { type Limits, measureLimits } from './metrics.ts';
import { openRateLimits } from './rate-limits.ts';
import { Refusals } from './refusals.ts';
import { TenantPlaces } from './tenant-places.ts';

export function openLimits(
  config: Config,
  destinations: Destinations,
  { log, stack, metrics }: { log: Logger; stack: AsyncDisposableStack; metrics: Registry },
): Limits {
  const limits = {
    bodyBytes: bodyBytesFrom(config, { part: 0.4, requestPart: 0.75 }),
    places: new TenantPlaces(config.TENANT_MAX_IN_FLIGHT),
    destinations,
    rateLimits: openRateLimits(config, { log, stack }),
    refusals: new Refusals(),
  };
  measureLimits(limits, metrics);
  return limits;
}
