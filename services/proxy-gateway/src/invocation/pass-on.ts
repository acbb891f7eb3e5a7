import type { ServerResponse } from 'node:http';
import { inPairs } from '../http/header-list.ts';
import type { BodyReader, BodyStream } from '../http/message.ts';
import { CallerGone } from './call-destination.ts';

/** Up to this size a body that has come in one piece is sent as text. */
const smallWhole = 4 * 1024;

/** Resolves when the answer has been sent; undefined if its body came whole, so at once. */
export function passOnAnswer(
  body: BodyStream,
  response: ServerResponse,
  writeHead: () => void,
): Promise<void> | undefined {
  const whole = body.takeWhole();
  if (!whole) return new Passing(body, response, writeHead).begin();
  writeHead();
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
  #writeHead: (() => void) | undefined;
  #isHeadAlone = true;

  constructor(body: BodyStream, response: ServerResponse, writeHead: () => void) {
    this.#body = body;
    this.#response = response;
    this.#writeHead = writeHead;
  }

  begin(): Promise<void> {
    // A step between may hold the end back, so aborting the call alone would not end it
    this.#response.once('close', () => {
      if (!this.#response.writableFinished) this.#body.abort(new CallerGone());
    });
    try {
      this.#body.read(this);
      if (this.#isHeadAlone) {
        this.#needHead();
        this.#response.flushHeaders();
      }
    } catch (error) {
      this.#sent.reject(error);
      this.#body.abort(error);
    }
    return this.#sent.promise;
  }

  onData(chunk: Buffer): boolean {
    this.#isHeadAlone = false;
    this.#needHead();
    const isTaken = this.#response.write(chunk);
    if (!isTaken) this.#response.once('drain', () => this.#body.resume());
    return isTaken;
  }

  onEnd(trailers: string[]): void {
    this.#isHeadAlone = false;
    this.#needHead();
    if (trailers.length > 0) this.#response.addTrailers(inPairs(trailers));
    this.#response.end();
    this.#sent.resolve();
  }

  /** Not before there is something to send: what has come may be an error, which then has a head of its own. */
  #needHead(): void {
    const writeHead = this.#writeHead;
    this.#writeHead = undefined;
    writeHead?.();
  }

  onError(error: unknown): void {
    this.#isHeadAlone = false;
    this.#sent.reject(error);
  }
}
