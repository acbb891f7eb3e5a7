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

/** @param most for each Tenant. */
export function createTenantPlaces(most: number): TenantPlaces {
  const takenBy = new Map<string, number>();
  let taken = 0;
  let refusals = 0;

  return {
    take(tenantId) {
      const count = takenBy.get(tenantId) ?? 0;
      if (count >= most) {
        refusals++;
        throw new ServiceError('unavailable', `This tenant has ${most} invocations under way, as many as it may`, {
          retryAfterSeconds: 1,
        });
      }
      takenBy.set(tenantId, count + 1);
      taken++;
    },
    giveBack(tenantId) {
      const count = takenBy.get(tenantId) ?? 0;
      if (count > 1) takenBy.set(tenantId, count - 1);
      else takenBy.delete(tenantId);
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
