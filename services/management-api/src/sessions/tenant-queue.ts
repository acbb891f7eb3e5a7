import { FairTurns } from '@sluice/fair-turns';
import { endedEarly, ServiceError } from '@sluice/problems';

interface Turn {
  tenantId: string;
  /** The caller's lane. Lanes of a Tenant take turns, so that a flood delays only its own lane. */
  lane: string;
  whenLeft: (act: () => void) => void;
}

/** Work that waits for a lock holds a connection to Postgres. This queue lets a Tenant hold at most one. */
export class TenantQueue {
  readonly #mostWaiting: number;
  /** Of Tenants with work under way, by lane. */
  readonly #tenants = new Map<string, FairTurns>();

  constructor(mostWaiting: number) {
    this.#mostWaiting = mostWaiting;
  }

  /** @throws {ServiceError} 429 where too many wait and this lane has most of them. */
  async run<T>({ tenantId, lane, whenLeft }: Turn, work: () => Promise<T>): Promise<T> {
    const waiting = { most: this.#mostWaiting, refusal: tooManyWait };
    const turns = this.#tenants.get(tenantId) ?? new FairTurns({ atOnce: 1, waiting });
    this.#tenants.set(tenantId, turns);
    try {
      return await turns.run(lane, work, (leave) => whenLeft(() => leave(endedEarly())));
    } finally {
      if (turns.state.running === 0 && this.#tenants.get(tenantId) === turns) this.#tenants.delete(tenantId);
    }
  }
}

function tooManyWait(): ServiceError {
  const detail = 'Too many requests of this Tenant to create or authorize sessions are queued; try again later';
  return new ServiceError('too_many_requests', detail, { retryAfterSeconds: 1, limit: 'session_requests' });
}
