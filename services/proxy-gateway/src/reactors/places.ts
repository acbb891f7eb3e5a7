import { ServiceError } from '@sluice/problems';
import { exportCounter, exportGauge } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';

/** Limits the runs in progress to the number of threads. One Tenant may have at most half of them. */
export class ReactorPlaces {
  readonly #threads: number;
  readonly #ofTenant: number;
  readonly #takenBy = new Map<string, number>();
  #taken = 0;
  #refusals = 0;
  #onGivenBack = () => {};

  constructor(threads: number) {
    this.#threads = threads;
    this.#ofTenant = Math.max(Math.floor(threads / 2), 1);
  }

  isFree(tenantId: string): boolean {
    return this.#taken < this.#threads && this.#countOf(tenantId) < this.#ofTenant;
  }

  /** @returns a function that releases the place, once. @throws {ServiceError} `unavailable` if no place is free. */
  take(tenantId: string): () => void {
    if (!this.isFree(tenantId)) {
      this.#refusals += 1;
      const detail = 'All threads for reactors that this Tenant may use are busy; try again, or use react-async';
      throw new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
    }
    this.#change(tenantId, 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#change(tenantId, -1);
      this.#onGivenBack();
    };
  }

  /** `act` is called after each release of a place. */
  whenGivenBack(act: () => void): void {
    this.#onGivenBack = act;
  }

  get taken(): number {
    return this.#taken;
  }

  get refusals(): number {
    return this.#refusals;
  }

  #countOf(tenantId: string): number {
    return this.#takenBy.get(tenantId) ?? 0;
  }

  #change(tenantId: string, by: number): void {
    this.#taken += by;
    const count = this.#countOf(tenantId) + by;
    if (count === 0) this.#takenBy.delete(tenantId);
    else this.#takenBy.set(tenantId, count);
  }
}

export function measuredReactorPlaces(threads: number, registry: Registry): ReactorPlaces {
  const places = new ReactorPlaces(threads);
  exportGauge(registry, {
    name: 'sluice_reactor_places_taken',
    help: 'Reactor runs in progress, at most REACTOR_THREADS',
    read: () => places.taken,
  });
  exportCounter(registry, {
    name: 'sluice_reactor_place_refusals_total',
    help: 'Calls of react refused because the Tenant had no free slot',
    read: () => places.refusals,
  });
  return places;
}
