import type { ServerResponse } from 'node:http';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import {
  type DestinationCall,
  type DestinationSink,
  forward,
  type StreamedRequest,
  streamThrough,
} from '../destination/index.ts';
import { type Answer, isTransformed } from '../transforms/response-transform.ts';
import type { ProxyDefinition } from './find-proxy.ts';

/** What becomes of a destination's answer. */
export interface Outcome {
  destinationStatus: number;
  /** The answer, where a response transform is to see it; otherwise it has been sent. */
  collected: Answer | undefined;
}

/**
 * Calls the destination. Its answer streams to the caller as it comes, except where a response transform is to see it.
 * Bodies in memory go over undici; streams, and calls that choose their own `Connection` or `Keep-Alive`, over
 * http-proxy. When the caller goes away the call is given up.
 */
export function callDestination(
  request: StreamedRequest,
  { proxy, response, context }: { proxy: ProxyDefinition; response: ServerResponse; context: Context },
): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const sink = new AnswerSink(proxy, response, context, resolve, reject);
  const { body, keepAlive, connection, ...inMemory } = request;
  const isHeld = body === undefined || Buffer.isBuffer(body);
  const call =
    isHeld && keepAlive === undefined && connection === undefined
      ? forward({ ...inMemory, body }, context.destinations, sink)
      : streamThrough(request, context.destinations, sink);
  sink.follow(call);
  return promise;
}

class AnswerSink implements DestinationSink {
  readonly #proxy: ProxyDefinition;
  readonly #response: ServerResponse;
  readonly #context: Context;
  readonly #resolve: (outcome: Outcome) => void;
  readonly #reject: (error: unknown) => void;
  #call: DestinationCall | undefined;
  #status = 0;
  #headers: string[] = [];
  /** Set where a transform is to see the answer. */
  #chunks: Buffer[] | undefined;
  #size = 0;

  constructor(
    proxy: ProxyDefinition,
    response: ServerResponse,
    context: Context,
    resolve: (outcome: Outcome) => void,
    reject: (error: unknown) => void,
  ) {
    this.#proxy = proxy;
    this.#response = response;
    this.#context = context;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  follow(call: DestinationCall): void {
    this.#call = call;
    this.#response.on('drain', () => call.resume());
    this.#response.on('close', () => {
      if (this.#response.writableFinished) return;
      call.abort();
      this.#reject(new CallerGone());
    });
  }

  onHead(status: number, headers: string[]): void {
    this.#status = status;
    this.#headers = headers;
    if (isTransformed(this.#proxy, status, headers)) {
      this.#chunks = [];
      return;
    }
    this.#response.writeHead(status, [...headers, this.#context.headerNames.destinationStatus, `${status}`]);
  }

  onData(chunk: Buffer): boolean {
    if (!this.#chunks) return this.#response.write(chunk);
    this.#size += chunk.length;
    if (this.#size <= this.#context.bodyLimitBytes) {
      this.#chunks.push(chunk);
    } else {
      this.#call?.abort();
      const detail = `The answer of the destination has more than ${this.#context.bodyLimitBytes} bytes, too many for a transform`;
      this.#reject(new ServiceError('transform_failed', detail));
    }
    return true;
  }

  onEnd(): void {
    const collected = this.#chunks && {
      status: this.#status,
      headers: this.#headers,
      body: Buffer.concat(this.#chunks),
    };
    if (!collected) this.#response.end();
    this.#resolve({ destinationStatus: this.#status, collected });
  }

  onError(error: Error): void {
    this.#reject(error);
  }
}

/** The caller closed the connection; nobody is there to be answered. */
export class CallerGone extends Error {
  constructor() {
    super('the caller went away');
    this.name = 'CallerGone';
  }
}
