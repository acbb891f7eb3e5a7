import type { ServerResponse } from 'node:http';
import { ServiceError } from '@sluice/problems';
import { inBatches, leastBytesAlone, SmallChunks } from '@sluice/service-runtime';
import type { HeldBody } from '../budgets/held-body.ts';
import { heldBody } from '../budgets/hold-body.ts';
import type { Context } from '../context.ts';
import { type DestinationCall, type DestinationSink, forward, streamThrough } from '../destination/index.ts';
import { findHeader, inPairs } from '../http/header-list.ts';
import type { Answer } from '../http/message.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { lookAgainOnTheWay } from '../proxies/look-again.ts';
import { isTransformed } from '../transforms/response-transform.ts';
import { ownHeaders } from './own-headers.ts';
import { writeHead } from './reply.ts';

/** Exactly one of these is called, once. */
export interface Outcome {
  answered(invocation: Invocation): void;
  collected(invocation: Invocation, answer: Answer): void;
  failed(invocation: Invocation, error: unknown): void;
}

/** Bodies in memory go over undici; streams, and calls with their own `Connection` or `Keep-Alive`, over http-proxy. */
export function callDestination(invocation: Invocation, context: Context, outcome: Outcome): void {
  // The caller may have left during an earlier step, and `close` does not fire a second time
  if (invocation.response.destroyed) throw new CallerGone();
  const { proxy, caller, head, target, message, clock, trace } = invocation;
  const { destinations } = context;
  clock.enter('destination');
  // Headers that frame a connection are never passed on, whoever set them
  const headers = destinations.headers.request(message.headers);
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
  const sink = new AnswerSink(invocation, context, outcome);
  const held = Buffer.isBuffer(body) && keepAlive === undefined && connection === undefined ? body : undefined;
  const call = held
    ? forward({ ...request, body: held.length > 0 ? held : undefined }, destinations, sink)
    : streamThrough({ ...request, body, incoming: invocation.request, keepAlive, connection }, destinations, sink);
  sink.follow(call);
}

class AnswerSink implements DestinationSink {
  readonly #invocation: Invocation;
  readonly #context: Context;
  readonly #response: ServerResponse;
  readonly #outcome: Outcome;
  #isOver = false;
  #call: DestinationCall | undefined;
  #status = 0;
  #reason: string | undefined;
  #headers: string[] = [];
  /** Set if a response transform has to see the answer. */
  #chunks: Buffer[] | undefined;
  #size = 0;
  #held: HeldBody | undefined;
  #isRead = true;
  #small: SmallChunks | undefined;
  #hasSmall = false;
  /** The `Content-Length` of the answer, and its whole body if it came in one piece. */
  #length: number | undefined;
  #whole: Buffer | undefined;
  #isSettleDue = false;
  #isBegun = false;

  constructor(invocation: Invocation, context: Context, outcome: Outcome) {
    this.#invocation = invocation;
    this.#context = context;
    this.#response = invocation.response;
    this.#outcome = outcome;
  }

  follow(call: DestinationCall): void {
    this.#call = call;
    // A closure stored in the invocation would survive V8's young collections; a listener on the response does not
    this.#response.on('close', () => {
      if (this.#response.writableFinished) return;
      call.abort();
      this.#fail(new CallerGone());
    });
  }

  onTurn(): Promise<void> {
    return lookAgainOnTheWay(this.#invocation, this.#context);
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#outcome.failed(this.#invocation, error);
  }

  onHead(status: number, headers: string[], reason: string | undefined): void {
    this.#status = status;
    this.#reason = reason;
    this.#headers = headers;
    this.#invocation.destinationStatus = status;
    if (isTransformed(this.#invocation.proxy, status, headers)) {
      this.#chunks = [];
      const contentLength = lengthOf(headers);
      const isCoded = findHeader(headers, 'content-encoding') !== undefined;
      const body = { contentLength, isCoded, isTransformed: true };
      this.#held = heldBody(this.#invocation, 'answer', this.#context, body);
      this.#waitFor(this.#held.begin(contentLength));
      return;
    }
    this.#length = lengthOf(headers);
    const all = headers.concat(ownHeaders(this.#invocation, status, this.#context));
    writeHead(this.#response, { status, reason, headers: all });
    this.#settleSoon();
  }

  onData(chunk: Buffer): boolean {
    if (!this.#chunks && chunk.length === this.#length) {
      this.#whole = chunk; // sent together with the head when the end comes, which follows at once
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
    if (!this.#chunks) {
      this.#isBegun = true;
      const isTaken = this.#response.write(chunk);
      if (!isTaken) this.#response.once('drain', () => this.#call?.resume());
      return isTaken;
    }
    const { bodyLimitBytes } = this.#context;
    this.#size += chunk.length;
    if (this.#size <= bodyLimitBytes) {
      this.#chunks.push(chunk);
      if (this.#isRead) this.#waitFor(this.#held?.readOn(this.#size));
    } else {
      const detail = `The answer of the destination has more than ${bodyLimitBytes} bytes, too many for a transform`;
      this.#giveUp(new ServiceError('destination_answer_unusable', detail, { limit: 'body_size' }));
    }
    return this.#isRead;
  }

  #waitFor(room: Promise<void> | undefined): void {
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
    if (this.#chunks) {
      this.#held?.has(this.#size, { isTransformed: true });
      const body = Buffer.concat(this.#chunks);
      if (this.#isOver) return;
      this.#isOver = true;
      const [status, reason, headers] = [this.#status, this.#reason, this.#headers];
      this.#outcome.collected(this.#invocation, { status, reason, headers, body });
    } else if (this.#whole) {
      this.#settleSoon();
    } else {
      if (trailers.length > 0) this.#response.addTrailers(inPairs(trailers));
      this.#endAnswer();
    }
  }

  onError(error: Error): void {
    this.#small?.flush();
    this.#fail(error);
  }

  /** Sends the head: together with the body if all of it has come, alone otherwise. */
  settle(): void {
    this.#isSettleDue = false;
    if (this.#whole) {
      this.#endAnswer();
    } else if (!this.#isBegun) {
      this.#isBegun = true;
      this.#response.flushHeaders();
    }
  }

  #settleSoon(): void {
    if (this.#isSettleDue) return;
    this.#isSettleDue = true;
    settleInBatches(this);
  }

  #endAnswer(): void {
    this.#isBegun = true;
    this.#response.end(this.#whole);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#outcome.answered(this.#invocation);
  }
}

const settleInBatches = inBatches((sink: AnswerSink) => sink.settle());

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
