import type { Reservation } from '@sluice/body-bytes';
import type { AtOnceOrLater } from '@sluice/cache-coherence';
import type { HeldDecoder } from './held-decoder.ts';

/** The received body, and the body assembled from it. */
export const copies = 2;
/** The text that the transform sees and its results, while they wait for a thread or the destination. */
const copiesOfTransformed = 8;
/** The first reservation of a body of unknown length, and the step by which it grows. */
const firstStepBytes = 64 * 1024;
const stepBytes = 256 * 1024;

export interface Sizes {
  codedBytes: number;
  bodyLimitBytes: number;
  resultBytes: number;
}

/** Call each method before its bytes exist. Promises fail with 503 after a vain wait, with 400 if the caller left. */
export class HeldBody {
  readonly #reservation: Reservation;
  readonly #sizes: Sizes;
  readonly #decoder: HeldDecoder | undefined;

  constructor(reservation: Reservation, sizes: Sizes, decoder?: HeldDecoder) {
    this.#reservation = reservation;
    this.#sizes = sizes;
    this.#decoder = decoder;
  }

  begin(contentLength: number | undefined): Promise<void> | undefined {
    return this.#reservation.growTo(Math.min(contentLength ?? firstStepBytes, firstStepBytes) * copies);
  }

  /** Call once `bytes` have arrived, before reading more. */
  readOn(bytes: number): Promise<void> | undefined {
    const { codedBytes } = this.#sizes;
    if (bytes >= codedBytes || Math.min(bytes + firstStepBytes, codedBytes) * copies <= this.#reservation.bytes) {
      return undefined;
    }
    return this.#reservation.growTo(Math.min(bytes + stepBytes, codedBytes) * copies);
  }

  decode(codedBytes: number): Promise<void> | undefined {
    return this.#reservation.growTo(codedBytes + this.#sizes.bodyLimitBytes * copies);
  }

  fill(bytes: number): Promise<void> | undefined {
    return this.#reservation.growBy(bytes * copies);
  }

  run(bytes: number): Promise<void> | undefined {
    return this.#reservation.growTo(bytes * copiesOfTransformed + this.#sizes.resultBytes);
  }

  /** Frees what the body took beyond its present size. */
  has(bytes: number, next: { isTransformed: boolean } = { isTransformed: false }): void {
    this.#reservation.shrinkTo(bytes * copies, mostMemoryOf(bytes, next.isTransformed, this.#sizes));
  }

  /** `bytes` have arrived and stay in memory until they are read from the stream. */
  streamInstead(bytes: number): void {
    this.#reservation.shrinkTo(bytes);
  }

  /** For a decoder that keeps `bytes` until {@link closeDecoder} is called. */
  decodeStream(bytes: number): AtOnceOrLater<void> {
    return this.#decoder?.open(bytes);
  }

  closeDecoder(): void {
    this.#decoder?.release();
  }

  readAgain(bytes: number): void {
    this.#reservation.shrinkTo(Math.max(this.#reservation.bytes - bytes, 0));
  }

  stopWaiting(): void {
    this.#decoder?.stopWaiting();
    this.#reservation.stopWaiting();
  }

  release(): void {
    this.#decoder?.release();
    this.#reservation.release();
  }
}

export function mostMemoryOf(bytes: number, isTransformed: boolean, { resultBytes }: Sizes): number {
  return isTransformed ? bytes * copiesOfTransformed + resultBytes : bytes * copies;
}
