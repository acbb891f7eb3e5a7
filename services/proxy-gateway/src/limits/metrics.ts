import { type BodyBytes, measureBodyBytes } from '@sluice/body-bytes';
import { measureLocalDecisions } from '@sluice/rate-limits';
import { exportCounter, exportGauge } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';
import type { Destinations } from '../destination/index.ts';
import type { RateLimits } from './rate-limits.ts';
import type { Refusals } from './refusals.ts';
import type { TenantPlaces } from './tenant-places.ts';

export interface Limits {
  bodyBytes: BodyBytes;
  places: TenantPlaces;
  destinations: Destinations;
  rateLimits: RateLimits | undefined;
  refusals: Refusals;
}

const gauges = {
  sluice_invocations_in_flight: ['Invocations in progress', ({ places }: Limits) => places.taken],
  sluice_destination_waiting_calls: [
    'Calls waiting for a connection to their destination',
    ({ destinations }: Limits) => destinations.state().waiting,
  ],
  sluice_destination_lookups_under_way: [
    'Name look-ups in progress',
    ({ destinations }: Limits) => destinations.state().names.underWay,
  ],
  sluice_destination_waiting_lookups: [
    'Name look-ups that wait because their Tenant has reached its limit',
    ({ destinations }: Limits) => destinations.state().names.waiting,
  ],
  sluice_destination_remembered_names: [
    'Cached destination names',
    ({ destinations }: Limits) => destinations.state().names.remembered,
  ],
} as const;

function refusalsOf(limits: Limits): Record<string, number> {
  const { bodyBytes, places, destinations, rateLimits, refusals } = limits;
  const { waitingRefusals } = destinations.state();
  const { applicationRefusals = 0, proxyRefusals = 0 } = rateLimits?.state() ?? {};
  return {
    application_rate: applicationRefusals,
    proxy_rate: proxyRefusals,
    tenant_in_flight: places.refusals,
    body_bytes: bodyBytes.refusals,
    destination_waiting: waitingRefusals,
    ...refusals.counts,
  };
}

export function measureLimits(limits: Limits, registry: Registry): void {
  for (const [name, [help, read]] of Object.entries(gauges))
    exportGauge(registry, { name, help, read: () => read(limits) });
  measureBodyBytes(limits.bodyBytes, registry);
  exportCounter(registry, {
    name: 'sluice_limit_refusals_total',
    help: 'Requests refused by a limit. limit="field_errors" counts responses whose list of errors was cut off',
    by: 'limit',
    read: () => refusalsOf(limits),
  });
  exportCounter(registry, {
    name: 'sluice_destination_lookups_total',
    help: 'DNS look-ups of destinations. outcome="absent" means that the name does not exist. outcome="failed" means that there was no usable response',
    by: 'outcome',
    read: () => ({ ...limits.destinations.state().names.outcomes }),
  });
  measureLocalDecisions(registry, () => limits.rateLimits?.state().decidedAlone ?? 0);
}
