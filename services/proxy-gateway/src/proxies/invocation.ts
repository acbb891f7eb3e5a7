import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { ConsoleLine } from '@sluice/sandbox';
import type { Acting } from '../acting/acting.ts';
import type { ResponseGuard } from '../guard/response-guard.ts';
import type { RequestTarget } from '../http/message.ts';
import type { StageClock } from '../observation/stage-clock.ts';
import type { InvocationTrace } from '../observation/trace.ts';
import type { ProxyDefinition } from './definition.ts';
import type { SentRoute } from './route-keys.ts';
import type { SentKeys } from './sent-keys.ts';

export interface InvocationHead {
  /** As sent. */
  target: RequestTarget;
  keys: SentKeys;
  /** Undefined if the request names its Proxy by the Proxy's key. */
  route: SentRoute | undefined;
  keepAlive: string | undefined;
  connection: string | undefined;
  cdnLoop: string;
}

/** Results of the steps, for later steps and for the log. */
export class Invocation {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly traceId: string;
  readonly clock: StageClock;
  readonly trace: InvocationTrace | undefined;

  head!: InvocationHead;
  /**
   * Undefined until the Proxy is found. Its caller is undefined if the Proxy needs no key; a key is then checked only if
   * the body contains an expression.
   */
  acting!: Acting<ProxyDefinition>;
  /** As received, for a response that a transform sees. */
  answerHeaders: readonly string[] | undefined;

  /** Looks through the response. Undefined if nothing was put into the request, or its Proxy has no guard. */
  responseGuard: ResponseGuard | undefined;

  /** Whether its response has been sent or its caller has left. Work may continue until `isSettled`. */
  isClosed = false;
  isSettled = false;
  tokens: number | undefined;
  /** Ids of the first of them, for the feed. */
  tokenIds: string[] | undefined;
  /** The headers of the request to the destination, once it begins to be sent. */
  sentHeaders: readonly string[] | undefined;
  destinationStatus: number | undefined;
  /** How many values the response guard found, and the tokens of the first of them, for the feed. */
  guardHits: number | undefined;
  guardTokenIds: string[] | undefined;
  /** Why there was no response; `caller_gone` if the caller left. */
  errorCode: string | undefined;
  /** Why the destination sent no usable response, as the caller was told, for the feed. */
  errorDetail: string | undefined;
  /** The first lines that its transforms printed, redacted. */
  printed: ConsoleLine[] | undefined;
  /** The body, if its expressions are replaced while it streams. */
  revealing: Readable | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, begun: InvocationBegin) {
    this.request = request;
    this.response = response;
    this.traceId = begun.traceId;
    this.clock = begun.clock;
    this.trace = begun.trace;
  }

  get proxy(): ProxyDefinition {
    return this.acting.owner;
  }

  get hasTransform(): boolean {
    const { requestTransform, responseTransform } = this.acting?.owner ?? {};
    return requestTransform !== undefined || responseTransform !== undefined;
  }
}

export interface InvocationBegin {
  traceId: string;
  clock: StageClock;
  trace: InvocationTrace | undefined;
}
