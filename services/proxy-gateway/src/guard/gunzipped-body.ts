import { createGunzip, type Gunzip } from 'node:zlib';
import { ServiceError } from '@sluice/problems';
import type { BodyReader, BodyStream } from '../http/message.ts';

/** Decodes a body while it streams. A body that is not gzip, or not all of it, ends with an error. */
export class GunzippedBody implements BodyStream, BodyReader {
  readonly #body: BodyStream;
  readonly #gunzip: Gunzip = createGunzip();
  #reader: BodyReader | undefined;
  /** Bytes behind the end of the gzip data end the decoder before the body. */
  #hasEnded = false;
  #trailers: string[] = [];

  constructor(body: BodyStream) {
    this.#body = body;
  }

  /** It is decoded as it is read. */
  takeWhole(): undefined {
    return undefined;
  }

  read(reader: BodyReader): void {
    this.#reader = reader;
    this.#gunzip
      .on('data', (decoded: Buffer) => {
        if (!this.#reader?.onData(decoded)) this.#gunzip.pause();
      })
      .on('end', () => (this.#hasEnded ? this.#take()?.onEnd(this.#trailers) : this.abort(notGzip())))
      .on('error', (cause) => this.abort(notGzip(cause)))
      .on('drain', () => this.#body.resume());
    this.#body.read(this);
  }

  resume(): void {
    this.#gunzip.resume();
  }

  abort(reason: unknown): void {
    this.#gunzip.destroy();
    const reader = this.#take();
    this.#body.abort(reason);
    reader?.onError(reason);
  }

  onData(chunk: Buffer): boolean {
    return this.#gunzip.destroyed || this.#gunzip.write(chunk);
  }

  onEnd(trailers: string[]): void {
    this.#hasEnded = true;
    this.#trailers = trailers;
    if (!this.#gunzip.destroyed) this.#gunzip.end();
  }

  onError(error: unknown): void {
    this.#gunzip.destroy();
    this.#take()?.onError(error);
  }

  /** It gets one end. */
  #take(): BodyReader | undefined {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}

function notGzip(cause?: Error): ServiceError {
  return new ServiceError('destination_answer_unusable', 'The response of the destination is not valid gzip', {
    cause,
  });
}
