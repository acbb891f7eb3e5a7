import type { BodyReader, BodyStream } from './message.ts';

/** A body in memory as a stream. */
export class HeldBody implements BodyStream {
  readonly #body: Buffer;

  constructor(body: Buffer) {
    this.#body = body;
  }

  takeWhole(): Buffer {
    return this.#body;
  }

  /** Whoever asks for a pause gets the end nevertheless, as of an answer whose last chunk is on its way. */
  read(reader: BodyReader): void {
    if (this.#body.length > 0) reader.onData(this.#body);
    reader.onEnd([]);
  }

  resume(): void {}

  abort(): void {}
}
