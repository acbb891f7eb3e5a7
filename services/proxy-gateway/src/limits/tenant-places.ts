import { ServiceError } from '@sluice/problems';

const sweepsFrom = 1000;

/** Limits concurrent invocations, so that a Tenant with a slow destination takes nothing from others. */
export class TenantPlaces {
  readonly #mostPerTenant: number;
  // Idle Tenants stay until a sweep, because a map that grows and shrinks with each invocation is copied repeatedly
  readonly #takenBy = new Map<string, number>();
  #sweepAt = sweepsFrom;
  #taken = 0;
  #refusals = 0;

  constructor(mostPerTenant: number) {
    this.#mostPerTenant = mostPerTenant;
  }

  /** @throws {ServiceError} `unavailable` at the Tenant's limit. */
  take(tenantId: string): void {
    const count = this.#takenBy.get(tenantId) ?? 0;
    if (count >= this.#mostPerTenant) {
      this.#refusals++;
      const detail = `This Tenant has reached its limit of ${this.#mostPerTenant} concurrent invocations; try again later`;
      throw new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
    }
    if (count === 0 && this.#takenBy.size >= this.#sweepAt) this.#sweep();
    this.#takenBy.set(tenantId, count + 1);
    this.#taken++;
  }

  giveBack(tenantId: string): void {
    this.#takenBy.set(tenantId, (this.#takenBy.get(tenantId) ?? 0) - 1);
    this.#taken--;
  }

  get taken(): number {
    return this.#taken;
  }

  get refusals(): number {
    return this.#refusals;
  }

  #sweep(): void {
    for (const [tenantId, count] of this.#takenBy) if (count === 0) this.#takenBy.delete(tenantId);
    this.#sweepAt = Math.max(sweepsFrom, 2 * this.#takenBy.size);
  }
}
