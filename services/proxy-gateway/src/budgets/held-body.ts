import type { Reservation } from '@sluice/body-bytes';

/** The received body, and the body assembled from it. */
const copies = 2;
/** The text that the transform sees and its results, while they wait for a thread or the destination. */
const copiesOfTransformed = 8;
/** The first reservation of a body of unknown length, and the step by which it grows. */
const firstStep = 64 * 1024;
const step = 256 * 1024;

export interface Sizes {
  /** The largest size of the received body. */
  codedBytes: number;
  bodyLimitBytes: number;
  /** Size of the largest result of a transform. */
  resultBytes: number;
}

/**
 * The memory of one direction's body, from before its first byte until the end of the invocation: as received, decoded,
 * with values filled in, and as a transform's result. Each method is called before the bytes exist, and returns
 * undefined where there is room.
 * @throws {ServiceError} from the returned promises: 503 when waiting was in vain, 400 when the caller has left.
 */
export class HeldBody {
  readonly #reservation: Reservation;
  readonly #sizes: Sizes;

  constructor(reservation: Reservation, sizes: Sizes) {
    this.#reservation = reservation;
    this.#sizes = sizes;
  }

  /** Call before the first byte is read. */
  begin(contentLength: number | undefined): Promise<void> | undefined {
    return this.#reservation.growTo(Math.min(contentLength ?? firstStep, firstStep) * copies);
  }

  /** Call once `bytes` have arrived, before reading more. */
  readOn(bytes: number): Promise<void> | undefined {
    const { codedBytes } = this.#sizes;
    if (bytes >= codedBytes || Math.min(bytes + firstStep, codedBytes) * copies <= this.#reservation.bytes) {
      return undefined;
    }
    return this.#reservation.growTo(Math.min(bytes + step, codedBytes) * copies);
  }

  decode(codedBytes: number): Promise<void> | undefined {
    return this.#reservation.growTo(codedBytes + this.#sizes.bodyLimitBytes * copies);
  }

  /** Call before filling in values adds `bytes`. */
  fill(bytes: number): Promise<void> | undefined {
    return this.#reservation.growBy(bytes * copies);
  }

  /** Call before its transform waits for a thread and runs. */
  run(bytes: number): Promise<void> | undefined {
    return this.#reservation.growTo(bytes * copiesOfTransformed + this.#sizes.resultBytes);
  }

  /** The body now has this size, and everything else it took is freed. */
  has(bytes: number, next: { isTransformed: boolean } = { isTransformed: false }): void {
    this.#reservation.shrinkTo(bytes * copies, mostOf(bytes, next.isTransformed, this.#sizes));
  }

  /** The body is streamed instead. */
  isStreamed(): void {
    this.#reservation.shrinkTo(0);
  }

  stopWaiting(): void {
    this.#reservation.stopWaiting();
  }

  release(): void {
    this.#reservation.release();
  }
}

/** The most memory that a body of this size may take, with its transform. */
export function mostOf(bytes: number, isTransformed: boolean, { resultBytes }: Sizes): number {
  return isTransformed ? bytes * copiesOfTransformed + resultBytes : bytes * copies;
}
