import { ServiceError } from '@sluice/problems';
import type { TransformPool } from '@sluice/sandbox';
import { exportCounter, exportGauge } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';

/**
 * Limits the runs in progress to the number of threads. One Tenant may have at most half of them. All Tenants whose code was
 * slow or killed of late have half together, and each of them a quarter, because such runs take processor time and memory
 * from everything else in the process.
 */
export class ReactorPlaces {
  readonly #threads: number;
  readonly #half: number;
  readonly #quarter: number;
  readonly #isSlow: (tenantId: string) => boolean;
  readonly #takenBy = new Map<string, number>();
  #taken = 0;
  #takenBySlow = 0;
  #refusals = 0;
  #onGivenBack = () => {};

  constructor(threads: number, isSlow: (tenantId: string) => boolean = () => false) {
    this.#threads = threads;
    this.#half = Math.max(Math.floor(threads / 2), 1);
    this.#quarter = Math.max(Math.floor(threads / 4), 1);
    this.#isSlow = isSlow;
  }

  isFree(tenantId: string): boolean {
    const count = this.#countOf(tenantId);
    if (this.#taken >= this.#threads || count >= this.#half) return false;
    return !this.#isSlow(tenantId) || (this.#takenBySlow < this.#half && count < this.#quarter);
  }

  /** @returns a function that releases the place, once. @throws {ServiceError} `unavailable` if no place is free. */
  take(tenantId: string): () => void {
    if (!this.isFree(tenantId)) {
      this.#refusals += 1;
      const detail = 'All reactor threads that this Tenant may use are busy; try again, or use react-async';
      throw new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
    }
    const slow = this.#isSlow(tenantId) ? 1 : 0;
    this.#change(tenantId, 1);
    this.#takenBySlow += slow;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#change(tenantId, -1);
      this.#takenBySlow -= slow;
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

export function measuredReactorPlaces(
  threads: number,
  { pool, metrics: registry }: { pool: TransformPool; metrics: Registry },
): ReactorPlaces {
  const places = new ReactorPlaces(threads, pool.isSlow);
  exportGauge(registry, {
    name: 'sluice_reactor_places_taken',
    help: 'Reactor runs in progress, at most REACTOR_THREADS',
    read: () => places.taken,
  });
  exportCounter(registry, {
    name: 'sluice_reactor_place_refusals_total',
    help: 'Calls of react that were refused, because no slot was free for their Tenant',
    read: () => places.refusals,
  });
  return places;
}
