import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { ConsoleLine } from '@sluice/sandbox';
import type { Acting } from '../acting/acting.ts';
import type { StageClock } from '../observation/stage-clock.ts';
import type { InvocationTrace } from '../observation/trace.ts';
import type { ProxyDefinition } from './definition.ts';
import type { SentKeys } from './sent-keys.ts';

export interface InvocationHead {
  method: string;
  /** Raw path behind `/proxy`; '' if there is none. */
  suffix: string;
  /** Raw query with its `?`, without the proxy key; '' if there is none. */
  query: string;
  keys: SentKeys;
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

  /** Whether its response has been sent or its caller has left. Work may continue until `isSettled`. */
  isClosed = false;
  isSettled = false;
  tokens: number | undefined;
  /** Ids of the first of them, for the feed. */
  tokenIds: string[] | undefined;
  destinationStatus: number | undefined;
  /** Why there was no response; `caller_gone` if the caller left. */
  errorCode: string | undefined;
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
