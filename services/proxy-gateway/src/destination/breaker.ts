export interface BreakerOptions {
  /** Consecutive failed connections after which it opens; 0 switches it off. */
  failures: number;
  openMs: number;
  now?: () => number;
}

/** Only failed connection attempts count, because any answer proves that the origin can be reached. */
export interface Breaker {
  /** Milliseconds until a call may try; 0 if it may now. After the time is over, only one caller gets 0. */
  waitMs(): number;
  onConnected(): void;
  onConnectFailed(): void;
  readonly isOpen: boolean;
}

const alwaysClosed: Breaker = { waitMs: () => 0, onConnected() {}, onConnectFailed() {}, isOpen: false };

/** One breaker for each origin and Tenant, so that no Tenant can close a destination for another. */
export function createBreaker({ failures, openMs, now = () => performance.now() }: BreakerOptions): Breaker {
  if (failures === 0) return alwaysClosed;
  let failed = 0;
  let opensAgainAt = 0;

  return {
    waitMs() {
      if (failed < failures) return 0;
      const wait = opensAgainAt - now();
      if (wait > 0) return wait;
      // Others wait for the result of this attempt; if it brings none, the next may try after `openMs`
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
