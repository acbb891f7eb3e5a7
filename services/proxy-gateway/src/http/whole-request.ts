import type { Socket } from 'node:net';
import { GatheredRequest } from '@sluice/service-runtime';

/** Methods of Node that its types leave out. */
interface Undeclared {
  /** Node calls it at the end of a response whose request was never read. */
  _dump(): void;
  /** Closes the stream without its events, as Node does for requests without a body. */
  _dumpAndCloseReadable(): void;
}

const Base = GatheredRequest as unknown as (new (
  socket: Socket,
) => GatheredRequest & Undeclared) &
  Omit<typeof GatheredRequest, 'prototype'>;

/** A body of one chunk can be taken without a stream, because a stream takes longer than all other work on it. */
export class WholeRequest extends Base {
  #first: Buffer | undefined;
  #isPassedOn = false;

  override push(chunk: Buffer | null): boolean {
    if (this.#isPassedOn) return super.push(chunk);
    if (this.#first) {
      if (chunk === null) return false; // because `_read` passes the end on as well
      this.#passOn();
      return super.push(chunk);
    }
    if (chunk === null) {
      this.#isPassedOn = true;
      return super.push(null);
    }
    this.#first = chunk;
    return chunk.length < this.readableHighWaterMark;
  }

  override _read(size: number): void {
    if (this.#passOn() && this.complete) super.push(null);
    else super._read(size);
  }

  #passOn(): boolean {
    const first = this.#first;
    this.#first = undefined;
    this.#isPassedOn = true;
    if (first) super.push(first);
    return first !== undefined;
  }

  override _dump(): void {
    if (!this.takeWhole(Number.POSITIVE_INFINITY)) super._dump();
  }

  /** Undefined if it is longer, did not arrive in one chunk, or has been read. */
  takeWhole(limitBytes: number): Buffer | undefined {
    const whole = this.#first;
    if (!whole || !this.complete || this.destroyed || whole.length > limitBytes) return undefined;
    this.#first = undefined;
    this.#isPassedOn = true;
    this._dumpAndCloseReadable();
    return whole;
  }
}
