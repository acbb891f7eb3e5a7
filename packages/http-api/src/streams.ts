import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';

export const streamSettings = {
  TENANT_MAX_STREAMS: {
    type: 'integer',
    minimum: 1,
    default: 10,
    description:
      'Limit of open exports and event streams of one Tenant in one process. If it is exceeded, the response is 429',
  },
  STREAM_MAX_SECONDS: {
    type: 'integer',
    minimum: 1,
    maximum: 86_400,
    default: 3600,
    description: 'Time limit of an export or event stream. Then its connection is reset',
  },
} as const;

export interface StreamLimits {
  TENANT_MAX_STREAMS: number;
  STREAM_MAX_SECONDS: number;
}

/** @returns a function that stops watching. */
export type WatchCaller = (caller: Caller, onChange: () => void) => () => void;

/** Limits long responses, in number for each Tenant and in time. */
export class Streams {
  readonly watch: WatchCaller;
  readonly longestMs: number;
  readonly #most: number;
  readonly #ends = new Map<string, Set<() => void>>();

  constructor({ TENANT_MAX_STREAMS, STREAM_MAX_SECONDS }: StreamLimits, watch: WatchCaller) {
    this.watch = watch;
    this.longestMs = STREAM_MAX_SECONDS * 1000;
    this.#most = TENANT_MAX_STREAMS;
  }

  /** @throws {ServiceError} `too_many_requests` at the Tenant's limit. @returns a function that releases the place. */
  take(tenantId: string, end: () => void): () => void {
    const ends = this.#ends.get(tenantId) ?? new Set();
    if (ends.size >= this.#most) {
      throw new ServiceError(
        'too_many_requests',
        `This Tenant has reached its limit of ${this.#most} open exports and event streams; close one first`,
        { retryAfterSeconds: 5, limit: 'streams' },
      );
    }
    ends.add(end);
    this.#ends.set(tenantId, ends);
    return () => {
      ends.delete(end);
      if (ends.size === 0) this.#ends.delete(tenantId);
    };
  }

  count(): number {
    return this.#all().length;
  }

  /** Ends all of them, because a stopping service does not wait for an hour. */
  endAll(): void {
    for (const end of this.#all()) end();
  }

  #all(): (() => void)[] {
    return [...this.#ends.values()].flatMap((ends) => [...ends]);
  }
}
