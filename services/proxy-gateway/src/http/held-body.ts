import type { BodyReader, BodyStream } from './message.ts';

/** A larger body is given in pieces of this size, because whoever reads it may make more of it. */
const pieceBytes = 64 * 1024;

/** A body in memory as a stream. */
export class HeldBody implements BodyStream {
  readonly #body: Buffer;
  #reader: BodyReader | undefined;
  #at = 0;
  #isFlowing = true;

  constructor(body: Buffer) {
    this.#body = body;
  }

  takeWhole(): Buffer | undefined {
    return this.#body.length <= pieceBytes ? this.#body : undefined;
  }

  read(reader: BodyReader): void {
    this.#reader = reader;
    this.#give();
  }

  resume(): void {
    if (this.#isFlowing) return;
    this.#isFlowing = true;
    setImmediate(() => this.#give());
  }

  abort(reason: unknown): void {
    this.#take()?.onError(reason);
  }

  /** Other work may run between two pieces. */
  #give(): void {
    if (!this.#reader || !this.#isFlowing) return;
    const piece = this.#body.subarray(this.#at, this.#at + pieceBytes);
    this.#at += piece.length;
    if (piece.length > 0) this.#isFlowing = this.#reader.onData(piece);
    if (this.#at >= this.#body.length) this.#take()?.onEnd([]);
    else if (this.#isFlowing) setImmediate(() => this.#give());
  }

  /** It gets one end. */
  #take(): BodyReader | undefined {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}
