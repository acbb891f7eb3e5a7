import { openBodyBytes } from '@sluice/body-bytes';
import type { Logger } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';
import type { BudgetConfig } from '../budgets/budgets.ts';
import { bodyParts, openDecoderBytes } from '../budgets/decoder-bytes.ts';
import type { Destinations } from '../destination/index.ts';
import { type Limits, measureLimits } from './metrics.ts';
import { type LimitConfig, openRateLimits } from './rate-limits.ts';
import { Refusals } from './refusals.ts';
import { createTenantPlaces } from './tenant-places.ts';

export function openLimits(
  config: LimitConfig & BudgetConfig & { REDIS_URL: string },
  destinations: Destinations,
  { log, stack, metrics }: { log: Logger; stack: AsyncDisposableStack; metrics: Registry },
): Limits {
  const bodyBytes = openBodyBytes(config, bodyParts);
  const limits = {
    bodyBytes,
    decoderBytes: openDecoderBytes(bodyBytes, config.BODY_WAIT_MS),
    places: createTenantPlaces(config.TENANT_MAX_IN_FLIGHT),
    destinations,
    rateLimits: openRateLimits(config, { log, stack }),
    refusals: new Refusals(),
  };
  measureLimits(limits, metrics);
  return limits;
}
