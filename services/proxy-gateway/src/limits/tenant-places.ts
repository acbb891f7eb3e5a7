import { ServiceError } from '@sluice/problems';

/** Limits concurrent invocations, so that a Tenant with a slow destination takes nothing from others. */
export interface TenantPlaces {
  /** @throws {ServiceError} `unavailable` at the Tenant's limit. */
  take(tenantId: string): void;
  /** Call once for each place that was taken. */
  giveBack(tenantId: string): void;
  /** For all Tenants together. */
  readonly taken: number;
  readonly refusals: number;
}

/** From this number of Tenants on, idle ones are removed. */
const leastSweep = 1000;

/** @param most for each Tenant. */
export function createTenantPlaces(most: number): TenantPlaces {
  // Idle Tenants stay, because a map that grows and shrinks with each invocation is copied again and again
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
        throw new ServiceError(
          'unavailable',
          `This Tenant has reached its limit of ${most} concurrent invocations; try again later`,
          {
            retryAfterSeconds: 1,
          },
        );
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
