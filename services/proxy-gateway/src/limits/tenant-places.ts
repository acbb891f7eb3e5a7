import { ServiceError } from '@sluice/problems';

/** How many invocations each Tenant has under way, so that one with a slow destination takes nothing from the others. */
export interface TenantPlaces {
  /** @throws {ServiceError} `unavailable` where the Tenant has as many under way as it may. */
  take(tenantId: string): void;
  /** Once for each place that was taken. */
  giveBack(tenantId: string): void;
  /** Of all Tenants together. */
  readonly taken: number;
  readonly refusals: number;
}

/** From this many Tenants on, those that have nothing under way are forgotten. */
const leastSweep = 1000;

/** @param most for each Tenant. */
export function createTenantPlaces(most: number): TenantPlaces {
  // Tenants stay in it with nothing under way: a map that grows and shrinks with each invocation is copied again and again
  const takenBy = new Map<string, number>();
  let sweepAt = leastSweep;
  let taken = 0;
  let refusals = 0;

  function sweep(): void {
    for (const [tenantId, count] of takenBy) if (count === 0) takenBy.delete(tenantId);
    sweepAt = Math.max(leastSweep, 2 * takenBy.size);
  }

  return {
    take(tenantId) {
      const count = takenBy.get(tenantId) ?? 0;
      if (count >= most) {
        refusals++;
        throw new ServiceError('unavailable', `This tenant has ${most} invocations under way, as many as it may`, {
          retryAfterSeconds: 1,
        });
      }
      if (count === 0 && takenBy.size >= sweepAt) sweep();
      takenBy.set(tenantId, count + 1);
      taken++;
    },
    giveBack(tenantId) {
      takenBy.set(tenantId, (takenBy.get(tenantId) ?? 0) - 1);
      taken--;
    },
    get taken() {
      return taken;
    },
    get refusals() {
      return refusals;
    },
  };
}
