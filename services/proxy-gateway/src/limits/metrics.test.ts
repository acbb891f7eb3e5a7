import { bodyBytesFrom } from '@sluice/body-bytes';
import { ServiceError } from '@sluice/problems';
import { Registry } from 'prom-client';
import type { Destinations } from '../destination/index.ts';
import { open } from '../testing/destination-servers.ts';
import { measureLimits } from './metrics.ts';
import type { RateLimits } from './rate-limits.ts';
import { Refusals } from './refusals.ts';
import { TenantPlaces } from './tenant-places.ts';

test('each limit shows its refusals, and what is under way', async () => {
  const registry = new Registry();
  const places = new TenantPlaces(2);
  places.take('a');
  places.take('a');
  places.take('b');
  places.giveBack('b');
  expect(() => places.take('a')).toThrow('concurrent invocations');
  const bodyBytes = bodyBytesFrom(
    { BODY_HELD_BYTES: 1000, BODY_HELD_TENANT_BYTES: 500, BODY_WAIT_MS: 60_000 },
    { part: 0.4, requestPart: 0.75 },
  );
  for (const _ of [1, 2, 3]) void bodyBytes.open({ tenantId: 'a' }).part('request').grow(300);
  const destinations: Destinations = {
    ...open(),
    state: () => ({
      waiting: 7,
      waitingRefusals: 4,
      names: { underWay: 1, waiting: 11, remembered: 12, outcomes: { found: 13, absent: 14, failed: 15 } },
    }),
  };
  const rateLimits: RateLimits = {
    countCaller: () => undefined,
    countProxy: () => undefined,
    state: () => ({ applicationRefusals: 8, proxyRefusals: 9, decidedAlone: 10 }),
  };
  const refusals = new Refusals();
  refusals.note(new ServiceError('loop_detected', 'again', { limit: 'loop' }));
  refusals.note(new ServiceError('conflict', 'of no limit'));
  measureLimits({ bodyBytes, places, destinations, rateLimits, refusals }, registry);
  for (let scrape = 0; scrape < 2; scrape++) {
    const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines.toSorted()).toEqual([
      'sluice_body_held_bytes 300',
      'sluice_body_limit_bytes 1000',
      'sluice_body_waiting 2',
      'sluice_destination_lookups_total{outcome="absent"} 14',
      'sluice_destination_lookups_total{outcome="failed"} 15',
      'sluice_destination_lookups_total{outcome="found"} 13',
      'sluice_destination_lookups_under_way 1',
      'sluice_destination_remembered_names 12',
      'sluice_destination_waiting_calls 7',
      'sluice_destination_waiting_lookups 11',
      'sluice_invocations_in_flight 2',
      'sluice_limit_refusals_total{limit="application_rate"} 8',
      'sluice_limit_refusals_total{limit="body_bytes"} 0',
      'sluice_limit_refusals_total{limit="body_size"} 0',
      'sluice_limit_refusals_total{limit="content_codings"} 0',
      'sluice_limit_refusals_total{limit="database_connections"} 0',
      'sluice_limit_refusals_total{limit="destination_waiting"} 4',
      'sluice_limit_refusals_total{limit="disclosures_waiting"} 0',
      'sluice_limit_refusals_total{limit="expressions"} 0',
      'sluice_limit_refusals_total{limit="field_errors"} 0',
      'sluice_limit_refusals_total{limit="field_size"} 0',
      'sluice_limit_refusals_total{limit="filters"} 0',
      'sluice_limit_refusals_total{limit="form_pairs"} 0',
      'sluice_limit_refusals_total{limit="form_parts"} 0',
      'sluice_limit_refusals_total{limit="headers"} 0',
      'sluice_limit_refusals_total{limit="loop"} 1',
      'sluice_limit_refusals_total{limit="opened_data"} 0',
      'sluice_limit_refusals_total{limit="proxy_rate"} 9',
      'sluice_limit_refusals_total{limit="reactor_results"} 0',
      'sluice_limit_refusals_total{limit="reactor_runs"} 0',
      'sluice_limit_refusals_total{limit="result_size"} 0',
      'sluice_limit_refusals_total{limit="row_changes"} 0',
      'sluice_limit_refusals_total{limit="tenant_in_flight"} 1',
      'sluice_limit_refusals_total{limit="tokens"} 0',
      'sluice_rate_limit_local_decisions_total 10',
    ]);
  }
});
