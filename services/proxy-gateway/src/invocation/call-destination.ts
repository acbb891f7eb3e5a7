import type { ServerResponse } from 'node:http';
import { growAsItArrives, type Reservation } from '@sluice/body-bytes';
import { ServiceError } from '@sluice/problems';
import { inBatches, leastBytesAlone, SmallChunks } from '@sluice/service-runtime';
import { type Looking, look } from '../acting/look.ts';
import type { Context } from '../context.ts';
import {
  type DestinationCall,
  type DestinationSink,
  forward,
  streamThrough,
  type Target,
} from '../destination/index.ts';
import { findHeader, inPairs, withoutHeaders } from '../http/header-list.ts';
import type { Answer, PassedAnswer, PassedBody, RequestMessage } from '../http/message.ts';
import { bytesToRun, copies, keepOnly, memoryOf, mostBytesOf } from '../limits/body-memory.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { isTransformed } from '../transforms/response-transform.ts';

type Calling = Looking &
  Pick<Context, 'destinations' | 'tellsDestinations' | 'bodyBytes' | 'bodyLimitBytes' | 'budgets'>;

/**
 * Bodies in memory use undici; streams, and calls with their own `Connection` or `Keep-Alive`, use http-proxy. Resolves
 * with the whole response if a response transform needs it, otherwise as soon as the head has arrived.
 */
export function callDestination(
  invocation: Invocation,
  { target, message }: { target: Target; message: RequestMessage },
  context: Calling,
): Promise<Answer | PassedAnswer> {
  // The caller may have left during an earlier step, and `close` does not fire a second time
  if (invocation.response.destroyed) throw new CallerGone();
  const { acting, head, trace } = invocation;
  const { owner: proxy, caller } = acting;
  const { destinations } = context;
  // Headers that frame a connection are never passed on, not even from a transform
  const filtered = destinations.headers.request(message.headers);
  // A part of an answer would pass what the response transform was written to hide
  const headers = proxy.responseTransform === undefined ? filtered : withoutHeaders(filtered, 'range', 'if-range');
  const { keepAlive, connection } = head;
  const { body } = message;
  const request = {
    tenantId: proxy.tenantId,
    proxyId: proxy.id,
    callerId: caller?.id,
    origin: target.origin,
    path: target.path,
    method: head.method,
    headers: trace && context.tellsDestinations ? trace.tell(headers) : headers,
    cdnLoop: head.cdnLoop,
  };
  const sink = new AnswerSink(invocation, context);
  const held = Buffer.isBuffer(body) && keepAlive === undefined && connection === undefined ? body : undefined;
  const call = held
    ? forward({ ...request, body: held.length > 0 ? held : undefined }, destinations, sink)
    : streamThrough({ ...request, body, incoming: invocation.request, keepAlive, connection }, destinations, sink);
  return sink.follow(call);
}

/** Up to this size a body that has come in one piece is sent as text. */
const smallWhole = 4 * 1024;
/** The most that waits in memory until the head of the answer is written. */
const mostUnsent = 64 * 1024;

const unwantedPart =
  'The destination answered with a part (206) though none was asked for; a response transform needs the whole answer';

/** Collects the answer for a response transform, or passes its body on. */
class AnswerSink implements DestinationSink, PassedBody {
  readonly #invocation: Invocation;
  readonly #context: Calling;
  readonly #response: ServerResponse;
  readonly #answer = Promise.withResolvers<Answer | PassedAnswer>();
  #sent: PromiseWithResolvers<void> | undefined;
  #error: unknown;
  #isOver = false;
  #call: DestinationCall | undefined;
  #head: Omit<Answer, 'body'> | undefined;
  /** Set if a response transform needs the whole response. */
  #collected: Buffer[] | undefined;
  #size = 0;
  #mostLength = 0;
  #memory: Reservation | undefined;
  #isRead = true;
  #small: SmallChunks | undefined;
  #hasSmall = false;
  /** The `Content-Length` of the answer, and its whole body if it came in one piece. */
  #length: number | undefined;
  #whole: Buffer | undefined;
  #unsent: Buffer[] = [];
  #trailers: string[] = [];

  constructor(invocation: Invocation, context: Calling) {
    this.#invocation = invocation;
    this.#context = context;
    this.#response = invocation.response;
  }

  follow(call: DestinationCall): Promise<Answer | PassedAnswer> {
    this.#call = call;
    // A closure stored in the invocation would survive V8's young collections; a listener on the response does not
    this.#response.on('close', () => {
      if (this.#response.writableFinished) return;
      call.abort();
      this.#fail(new CallerGone());
    });
    return this.#answer.promise;
  }

  abort(): void {
    this.#isOver = true;
    this.#call?.abort();
  }

  onTurn(): Promise<void> | undefined {
    return look(this.#invocation.acting, this.#context);
  }

  /** If the body is passed on, a failure after the head breaks the caller's connection. */
  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    if (this.#sent) this.#sent.reject(error);
    else if (this.#head && !this.#collected) this.arrive();
    else this.#answer.reject(error);
  }

  onHead(status: number, headers: string[], reason: string | undefined): void {
    this.#invocation.destinationStatus = status;
    if (status === 206 && this.#invocation.proxy.responseTransform !== undefined) {
      this.#giveUp(new ServiceError('destination_answer_unusable', unwantedPart));
      return;
    }
    this.#head = { status, reason, headers };
    this.#invocation.acting.direction = 'answer';
    const contentLength = lengthOf(headers);
    if (isTransformed(this.#invocation.proxy, status, headers)) {
      this.#collected = [];
      const { bodyLimitBytes } = this.#context;
      this.#mostLength = Math.min(contentLength ?? bodyLimitBytes, bodyLimitBytes);
      const isCoded = findHeader(headers, 'content-encoding') !== undefined;
      const most = mostBytesOf({ length: this.#mostLength, isCoded, isTransformed: true }, this.#context);
      this.#memory = memoryOf(this.#invocation.acting, 'answer', this.#context, most);
      this.#waitForRoom();
      return;
    }
    this.#length = contentLength;
    arriveInBatches(this);
  }

  onData(chunk: Buffer): boolean {
    if (!this.#collected && chunk.length === this.#length) {
      this.#whole = chunk; // sent together with the head, because the end follows at once
      return true;
    }
    if (chunk.length >= leastBytesAlone || !this.#hasSmall) {
      this.#hasSmall ||= chunk.length < leastBytesAlone;
      this.#small?.flush();
      return this.#take(chunk);
    }
    this.#small ??= new SmallChunks((gathered) => this.#take(gathered));
    this.#small.add(chunk);
    return this.#isRead && !this.#response.writableNeedDrain;
  }

  #take(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    if (this.#collected) return this.#collect(chunk, this.#collected);
    if (this.#sent) return this.#write(chunk);
    this.#unsent.push(chunk);
    this.#size += chunk.length;
    this.arrive();
    return this.#size < mostUnsent;
  }

  #write(chunk: Buffer): boolean {
    const isTaken = this.#response.write(chunk);
    if (!isTaken) this.#response.once('drain', () => this.#call?.resume());
    return isTaken;
  }

  #collect(chunk: Buffer, collected: Buffer[]): boolean {
    const { bodyLimitBytes } = this.#context;
    this.#size += chunk.length;
    if (this.#size <= bodyLimitBytes) {
      collected.push(chunk);
      if (this.#isRead) this.#waitForRoom();
    } else {
      const detail = `The answer of the destination has more than ${bodyLimitBytes} bytes, too many for a transform`;
      this.#giveUp(new ServiceError('destination_answer_unusable', detail, { limit: 'body_size' }));
    }
    return this.#isRead;
  }

  #waitForRoom(): void {
    const room = this.#memory && growAsItArrives(this.#memory, this.#size, { copies, mostLength: this.#mostLength });
    if (!room) return;
    this.#isRead = false;
    room.then(
      () => {
        this.#isRead = true;
        this.#call?.resume();
      },
      (error: unknown) => this.#giveUp(error),
    );
  }

  #giveUp(error: unknown): void {
    this.#call?.abort();
    this.#fail(error);
  }

  onEnd(trailers: string[]): void {
    this.#small?.flush();
    this.#trailers = trailers;
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#collected && this.#head) {
      if (this.#memory) keepOnly(this.#memory, this.#size, bytesToRun(this.#size, this.#context));
      this.#answer.resolve({ ...this.#head, body: Buffer.concat(this.#collected) });
    } else if (this.#sent) {
      this.#end();
      this.#sent.resolve();
    }
  }

  onError(error: Error): void {
    this.#small?.flush();
    this.#fail(error);
  }

  arrive(): void {
    if (this.#head) this.#answer.resolve({ ...this.#head, body: this });
  }

  /** Sends the head with the whole body if that has arrived, alone if none of it has. */
  sendTo(response: ServerResponse): Promise<void> | undefined {
    if (this.#error !== undefined) throw this.#error;
    for (const chunk of this.#unsent) this.#write(chunk);
    if (this.#isOver || this.#whole) {
      this.#isOver = true;
      this.#end();
      return undefined;
    }
    if (this.#unsent.length === 0) response.flushHeaders();
    else if (!response.writableNeedDrain) this.#call?.resume();
    this.#unsent = [];
    this.#sent = Promise.withResolvers();
    return this.#sent.promise;
  }

  #end(): void {
    if (this.#trailers.length > 0) this.#response.addTrailers(inPairs(this.#trailers));
    // As text it goes out with the head in one write; each of its characters is a byte
    if (this.#whole && this.#whole.length <= smallWhole) this.#response.end(this.#whole.toString('latin1'), 'latin1');
    else this.#response.end(this.#whole);
  }
}

const arriveInBatches = inBatches((sink: AnswerSink) => sink.arrive());

function lengthOf(headers: readonly string[]): number | undefined {
  const text = findHeader(headers, 'content-length');
  return text === undefined ? undefined : Number(text);
}

export class CallerGone extends Error {
  constructor() {
    super('the caller went away');
    this.name = 'CallerGone';
  }
}
