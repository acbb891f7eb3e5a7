import type { ServerResponse } from 'node:http';
import { ServiceError } from '@sluice/problems';
import { inBatches } from '@sluice/service-runtime';
import type { Context } from '../context.ts';
import {
  type DestinationCall,
  type DestinationSink,
  forward,
  streamThrough,
  type Target,
} from '../destination/index.ts';
import { findHeader } from '../http/header-list.ts';
import type { Answer, RequestMessage } from '../http/message.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { isTransformed } from '../transforms/response-transform.ts';
import { ownHeaders } from './own-headers.ts';

/**
 * Calls the destination. Its answer streams to the caller as it comes, except where a response transform is to see it.
 * Bodies in memory go over undici; streams, and calls that choose their own `Connection` or `Keep-Alive`, over
 * http-proxy. When the caller goes away the call is given up.
 * @returns the answer where a response transform is to see it; undefined where it has been sent.
 */
export function callDestination(
  invocation: Invocation,
  message: Target & RequestMessage,
  context: Context,
): Promise<Answer | undefined> {
  // While its key was looked up or its transform ran; nothing would tell us a second time.
  if (invocation.response.destroyed) return Promise.reject(new CallerGone());
  const { promise, resolve, reject } = Promise.withResolvers<Answer | undefined>();
  const sink = new AnswerSink(invocation, context, { resolve, reject });
  const { origin, path, headers, body } = message;
  const { method, keepAlive, connection } = invocation.head;
  const { destinations } = context;
  const request = { tenantId: invocation.proxy.tenantId, origin, path, method, headers };
  const held = Buffer.isBuffer(body) && keepAlive === undefined && connection === undefined ? body : undefined;
  const call = held
    ? forward({ ...request, body: held.length > 0 ? held : undefined }, destinations, sink)
    : streamThrough({ ...request, body, keepAlive, connection }, destinations, sink);
  sink.follow(call);
  return promise;
}

interface Settle {
  resolve(answer: Answer | undefined): void;
  reject(error: unknown): void;
}

class AnswerSink implements DestinationSink {
  readonly #invocation: Invocation;
  readonly #context: Context;
  readonly #response: ServerResponse;
  readonly #resolve: (answer: Answer | undefined) => void;
  readonly #reject: (error: unknown) => void;
  #call: DestinationCall | undefined;
  #status = 0;
  #headers: string[] = [];
  /** Set where a transform is to see the answer. */
  #chunks: Buffer[] | undefined;
  #size = 0;
  /** How long the answer says that it is, and all of it, once it has come in one piece. */
  #length: number | undefined;
  #whole: Buffer | undefined;

  constructor(invocation: Invocation, context: Context, { resolve, reject }: Settle) {
    this.#invocation = invocation;
    this.#context = context;
    this.#response = invocation.response;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  follow(call: DestinationCall): void {
    this.#call = call;
    this.#response.on('close', () => {
      if (this.#response.writableFinished) return;
      call.abort();
      this.#reject(new CallerGone());
    });
  }

  onHead(status: number, headers: string[]): void {
    this.#status = status;
    this.#headers = headers;
    this.#invocation.destinationStatus = status;
    if (isTransformed(this.#invocation.proxy, status, headers)) {
      this.#chunks = [];
      return;
    }
    this.#length = lengthOf(headers);
    this.#response.writeHead(status, headers.concat(ownHeaders(this.#invocation, status, this.#context)));
  }

  onData(chunk: Buffer): boolean {
    if (!this.#chunks) {
      if (chunk.length === this.#length) {
        this.#whole = chunk; // goes out with the end, which is about to come, in one piece with the head
        return true;
      }
      const isTaken = this.#response.write(chunk);
      if (!isTaken) this.#response.once('drain', () => this.#call?.resume());
      return isTaken;
    }
    const { bodyLimitBytes } = this.#context;
    this.#size += chunk.length;
    if (this.#size <= bodyLimitBytes) {
      this.#chunks.push(chunk);
    } else {
      this.#call?.abort();
      const detail = `The answer of the destination has more than ${bodyLimitBytes} bytes, too many for a transform`;
      this.#reject(new ServiceError('transform_failed', detail));
    }
    return true;
  }

  onEnd(): void {
    if (this.#chunks) {
      this.#resolve({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks) });
    } else {
      if (this.#whole) endInBatches(this);
      else this.endAnswer();
    }
  }

  onError(error: Error): void {
    this.#reject(error);
  }

  /** The answer goes out, or the rest of it. */
  endAnswer(): void {
    this.#response.end(this.#whole);
    this.#resolve(undefined);
  }
}

const endInBatches = inBatches((sink: AnswerSink) => sink.endAnswer());

function lengthOf(headers: readonly string[]): number | undefined {
  const text = findHeader(headers, 'content-length');
  return text === undefined ? undefined : Number(text);
}

/** The caller closed the connection; nobody is there to be answered. */
export class CallerGone extends Error {
  constructor() {
    super('the caller went away');
    this.name = 'CallerGone';
  }
}
