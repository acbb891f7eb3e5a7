/** What a breaker needs to know. */
export interface BreakerOptions {
  /** Connections in a row that must fail before it opens; 0 switches it off. */
  failures: number;
  /** How long it stays open before one call may try again, in milliseconds. */
  openMs: number;
  /** Milliseconds of a clock that never goes back; default `performance.now`. */
  now?: () => number;
}

/**
 * Keeps calls away from an origin that cannot be reached. It counts only connections that could not be made: an answer
 * is an answer, whatever its status, and a call that is slow or cut off says nothing about the next connection.
 */
export interface Breaker {
  /** Milliseconds until a call may try; 0 if it may now. Of those that ask after that time, one gets 0. */
  waitMs(): number;
  onConnected(): void;
  onConnectFailed(): void;
  readonly isOpen: boolean;
}

const alwaysClosed: Breaker = { waitMs: () => 0, onConnected() {}, onConnectFailed() {}, isOpen: false };

/** For one origin of one Tenant, so that no Tenant can close a destination for another. */
export function createBreaker({ failures, openMs, now = () => performance.now() }: BreakerOptions): Breaker {
  if (failures === 0) return alwaysClosed;
  let failed = 0;
  let opensAgainAt = 0;

  return {
    waitMs() {
      if (failed < failures) return 0;
      const wait = opensAgainAt - now();
      if (wait > 0) return wait;
      // The others wait for what this one finds; if it never says, the next may try after the same time
      opensAgainAt = now() + openMs;
      return 0;
    },
    onConnected() {
      failed = 0;
    },
    onConnectFailed() {
      failed++;
      if (failed >= failures) opensAgainAt = now() + openMs;
    },
    get isOpen() {
      return failed >= failures;
    },
  };
}
