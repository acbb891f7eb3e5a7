import type { ServerResponse } from 'node:http';
import { inPairs } from '../http/header-list.ts';
import type { BodyReader, BodyStream } from '../http/message.ts';
import { CallerGone } from './call-destination.ts';

/** Up to this size a body that has come in one piece is sent as text. */
const smallWhole = 4 * 1024;

/** Call it once the head is written. Resolves when the body has been sent; undefined if it came whole, so at once. */
export function passOnBody(body: BodyStream, response: ServerResponse): Promise<void> | undefined {
  const whole = body.takeWhole();
  if (!whole) return new Passing(body, response).begin();
  // As text a small body goes out with the head in one write; each of its characters is a byte
  if (whole.length <= smallWhole) response.end(whole.toString('latin1'), 'latin1');
  else response.end(whole);
  return undefined;
}

/** Sends the chunks as they come. A failure rejects, and whoever waits then breaks the connection. */
class Passing implements BodyReader {
  readonly #body: BodyStream;
  readonly #response: ServerResponse;
  readonly #sent = Promise.withResolvers<void>();
  #isHeadAlone = true;

  constructor(body: BodyStream, response: ServerResponse) {
    this.#body = body;
    this.#response = response;
  }

  begin(): Promise<void> {
    // A step between may hold the end back, so aborting the call alone would not end it
    this.#response.once('close', () => {
      if (!this.#response.writableFinished) this.#body.abort(new CallerGone());
    });
    try {
      this.#body.read(this);
      if (this.#isHeadAlone) this.#response.flushHeaders();
    } catch (error) {
      this.#sent.reject(error);
      this.#body.abort(error);
    }
    return this.#sent.promise;
  }

  onData(chunk: Buffer): boolean {
    this.#isHeadAlone = false;
    const isTaken = this.#response.write(chunk);
    if (!isTaken) this.#response.once('drain', () => this.#body.resume());
    return isTaken;
  }

  onEnd(trailers: string[]): void {
    this.#isHeadAlone = false;
    if (trailers.length > 0) this.#response.addTrailers(inPairs(trailers));
    this.#response.end();
    this.#sent.resolve();
  }

  onError(error: unknown): void {
    this.#isHeadAlone = false;
    this.#sent.reject(error);
  }
}
