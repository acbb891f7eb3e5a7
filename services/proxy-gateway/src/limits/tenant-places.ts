import { ServiceError } from '@sluice/problems';

/** Limits concurrent invocations, so that a Tenant with a slow destination takes nothing from others. */
export interface TenantPlaces {
  /** @throws {ServiceError} `unavailable` at the Tenant's limit. */
  take(tenantId: string): void;
  giveBack(tenantId: string): void;
  readonly taken: number;
  readonly refusals: number;
}

const sweepsFrom = 1000;

export function createTenantPlaces(mostPerTenant: number): TenantPlaces {
  // Idle Tenants stay until a sweep, because a map that grows and shrinks with each invocation is copied repeatedly
  const takenBy = new Map<string, number>();
  let sweepAt = sweepsFrom;
  let taken = 0;
  let refusals = 0;

  function sweep(): void {
    for (const [tenantId, count] of takenBy) if (count === 0) takenBy.delete(tenantId);
    sweepAt = Math.max(sweepsFrom, 2 * takenBy.size);
  }

  return {
    take(tenantId) {
      const count = takenBy.get(tenantId) ?? 0;
      if (count >= mostPerTenant) {
        refusals++;
        throw new ServiceError(
          'unavailable',
          `This Tenant has reached its limit of ${mostPerTenant} concurrent invocations; try again later`,
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
