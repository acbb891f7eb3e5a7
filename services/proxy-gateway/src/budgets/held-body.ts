import type { Reservation } from './body-bytes.ts';

/** A body as it came, and what is put together of it. */
const copies = 2;
/** The text that its transform sees and what comes of it, while they wait for a thread or the destination. */
const copiesOfTransformed = 8;
/** What a body that comes in parts is given at first, and by how much more than it needs at a time. */
const firstStep = 64 * 1024;
const step = 256 * 1024;

export interface Sizes {
  /** Of the body as it comes, at most. */
  codedBytes: number;
  bodyLimitBytes: number;
  /** The largest result of a transform. */
  resultBytes: number;
}

/**
 * What the body of one direction takes, from before its first byte until its invocation is over: as it comes, decoded,
 * with values in it, and as a transform's result. Each method that may have to wait answers undefined where there is
 * room, and is called before the bytes are there.
 * @throws {ServiceError} 503 from each wait that is in vain, 400 where the caller has left.
 */
export class HeldBody {
  readonly #reservation: Reservation;
  readonly #sizes: Sizes;

  constructor(reservation: Reservation, sizes: Sizes) {
    this.#reservation = reservation;
    this.#sizes = sizes;
  }

  /** Before the first byte is read. */
  begin(contentLength: number | undefined): Promise<void> | undefined {
    return this.#reservation.growTo(Math.min(contentLength ?? firstStep, firstStep) * copies);
  }

  /** Once so many bytes have come, before more of them do. */
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

  /** It grows to so many bytes, because values are put into it. */
  fill(bytes: number): Promise<void> | undefined {
    return this.#reservation.growTo(this.#reservation.bytes + bytes * copies);
  }

  /** Its transform waits for a thread, runs, and answers. */
  run(bytes: number): Promise<void> | undefined {
    return this.#reservation.growTo(bytes * copiesOfTransformed + this.#sizes.resultBytes);
  }

  /** It has come to so many bytes, and whatever else it took is gone. */
  has(bytes: number, next: { isTransformed: boolean } = { isTransformed: false }): void {
    const { resultBytes } = this.#sizes;
    this.#reservation.shrinkTo(bytes * copies, mostOf(bytes, { ...next, resultBytes }));
  }

  /** It streams after all. */
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

/** What a body of so many bytes may take, with its transform. */
export function mostOf(
  bytes: number,
  { isTransformed, resultBytes }: { isTransformed: boolean; resultBytes: number },
): number {
  return isTransformed ? bytes * copiesOfTransformed + resultBytes : bytes * copies;
}
