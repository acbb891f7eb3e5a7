import type { Reservation } from '@sluice/body-bytes';
import { type AtOnceOrLater, andThen } from '@sluice/cache-coherence';

/** A decoder up to this size, as of gzip, takes no more than the beginning of a body, so it waits for no others. */
const smallDecoder = 64 * 1024;

/**
 * The memory of the decoder of a body that streams. Its turn comes first: decoders of a Tenant take at most half of what
 * its requests may hold, and wait apart, because a few bytes that stand still in each would keep out all other bodies.
 */
export class HeldDecoder {
  readonly #turn: Reservation;
  readonly #reservation: Reservation;

  constructor(turn: Reservation, reservation: Reservation) {
    this.#turn = turn;
    this.#reservation = reservation;
  }

  /** Call before it exists. Rejects with 503 after a vain wait, with 400 if the caller left. */
  open(bytes: number): AtOnceOrLater<void> {
    const turn = bytes > smallDecoder ? this.#turn.growTo(bytes) : undefined;
    return andThen(turn, () => this.#reservation.growTo(bytes));
  }

  stopWaiting(): void {
    this.#turn.stopWaiting();
    this.#reservation.stopWaiting();
  }

  release(): void {
    this.#turn.release();
    this.#reservation.release();
  }
}
