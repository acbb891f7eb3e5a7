import { tooManyWaiting } from './failures.ts';

export interface SlotOptions {
  /** How many calls may be under way. */
  slots: number;
  /** How many may wait for one of these. */
  maxWaiting: number;
  /** Called for each that was refused, since as many waited as may. */
  onRefused?: (() => void) | undefined;
}

/** A call that waits for its turn. */
export interface WaitingCall {
  /** Its turn has come; it holds a slot from now on. */
  onSlot(): void;
}

/**
 * Who may be under way, first come, first served. The transports have queues of their own, but undici's has no bound,
 * neither lets go of a call that was given up while it waited, and Node's agent only counts connections that are made:
 * a burst opens as many as it has calls.
 */
export class Slots {
  readonly #options: SlotOptions;
  readonly #waiting = new Set<WaitingCall>();
  #taken = 0;

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * True: the call holds a slot. False: it waits, and `onSlot` tells it.
   * @throws {ServiceError} `unavailable` where as many wait as may.
   */
  take(call: WaitingCall): boolean {
    const { slots, maxWaiting, onRefused } = this.#options;
    if (this.#taken < slots) {
      this.#taken++;
      return true;
    }
    if (this.#waiting.size >= maxWaiting) {
      onRefused?.();
      throw tooManyWaiting();
    }
    this.#waiting.add(call);
    return false;
  }

  /** For a call that is given up while it waits. */
  leave(call: WaitingCall): void {
    this.#waiting.delete(call);
  }

  /** Once for each slot that was taken. */
  giveBack(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#taken--;
      return;
    }
    this.#waiting.delete(next);
    // A transport tells that a call is over before its connection is free for the next
    process.nextTick(() => next.onSlot());
  }
}
