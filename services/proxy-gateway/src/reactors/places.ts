import { ServiceError } from '@sluice/problems';
import { exportCounter, exportGauge } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';

/** Limits the runs in progress to the number of threads. One Tenant may have at most half of them. */
export interface ReactorPlaces {
  isFree(tenantId: string): boolean;
  /** @returns a function that releases the place, once. @throws {ServiceError} `unavailable` if no place is free. */
  take(tenantId: string): () => void;
  /** `act` is called after each release of a place. */
  whenGivenBack(act: () => void): void;
  readonly taken: number;
  readonly refusals: number;
}

export function measuredReactorPlaces(threads: number, registry: Registry): ReactorPlaces {
  const places = newReactorPlaces(threads);
  exportGauge(registry, {
    name: 'sluice_reactor_places_taken',
    help: 'Runs of reactors that have a place; there are as many places as REACTOR_THREADS',
    read: () => places.taken,
  });
  exportCounter(registry, {
    name: 'sluice_reactor_place_refusals_total',
    help: 'Calls of react that were refused because no place was free for their Tenant',
    read: () => places.refusals,
  });
  return places;
}

export function newReactorPlaces(threads: number): ReactorPlaces {
  const ofTenant = Math.max(Math.floor(threads / 2), 1);
  const takenBy = new Map<string, number>();
  let taken = 0;
  let refusals = 0;
  let onGivenBack = () => {};
  const countOf = (tenantId: string) => takenBy.get(tenantId) ?? 0;
  const isFree = (tenantId: string) => taken < threads && countOf(tenantId) < ofTenant;

  function change(tenantId: string, by: number): void {
    taken += by;
    const count = countOf(tenantId) + by;
    if (count === 0) takenBy.delete(tenantId);
    else takenBy.set(tenantId, count);
  }

  return {
    isFree,
    take(tenantId) {
      if (!isFree(tenantId)) {
        refusals += 1;
        const detail = 'All threads for reactors that this Tenant may use are busy; try again, or use react-async';
        throw new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
      }
      change(tenantId, 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        change(tenantId, -1);
        onGivenBack();
      };
    },
    whenGivenBack(act) {
      onGivenBack = act;
    },
    get taken() {
      return taken;
    },
    get refusals() {
      return refusals;
    },
  };
}
