import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { BodyDirection } from '@sluice/body-bytes';
import type { Caller } from '@sluice/credentials';
import type { OpeningBudget } from '@sluice/vault';
import type { HeldBody } from '../budgets/held-body.ts';
import type { Target } from '../destination/index.ts';
import type { OpenedBody } from '../detokenization/opened-body.ts';
import type { RequestMessage } from '../http/message.ts';
import type { StageClock } from '../observation/stage-clock.ts';
import type { InvocationTrace } from '../observation/trace.ts';
import type { ConsoleSecrets } from '../transforms/console/secrets.ts';
import type { ProxyDefinition } from './definition.ts';

export interface InvocationHead {
  method: string;
  /** Raw path behind `/proxy`; '' if there is none. */
  suffix: string;
  /** Raw query with its `?`, without the proxy key; '' if there is none. */
  query: string;
  proxyKey: string;
  apiKey: string | undefined;
  keepAlive: string | undefined;
  connection: string | undefined;
  cdnLoop: string;
}

/** The steps set `head`, `proxy`, `caller`, `target` and `message` in this order; a failed step sets no more. */
export class Invocation {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly traceId: string;
  readonly clock: StageClock;
  readonly trace: InvocationTrace | undefined;

  head!: InvocationHead;
  proxy!: ProxyDefinition;
  /** Undefined if the Proxy asks for no key; a key is then checked only if the body holds an expression. */
  caller: Caller | undefined;
  target!: Target;
  /** The message to the destination: first as it came, then with the values, then as the transform wrote it. */
  message!: RequestMessage;
  opened: OpenedBody | undefined;
  step = 0;

  hasPlace = false;
  readonly held: Partial<Record<BodyDirection, HeldBody>> = {};
  /** Whether its answer has been sent or its caller has left. Its work may still go on until `isSettled`. */
  isClosed = false;
  isSettled = false;
  tokens: number | undefined;
  opening: OpeningBudget | undefined;
  expressions = 0;
  destinationStatus: number | undefined;
  /** Why there was no answer; `caller_gone` if the caller left. */
  errorCode: string | undefined;
  /** What its transforms have seen. It is never logged, and redacted from what they print. */
  secrets: ConsoleSecrets | undefined;
  /** The body, if its expressions are replaced while it streams. */
  revealing: Readable | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, begun: InvocationBegin) {
    this.request = request;
    this.response = response;
    this.traceId = begun.traceId;
    this.clock = begun.clock;
    this.trace = begun.trace;
  }

  get hasTransform(): boolean {
    return this.proxy?.requestTransform !== undefined || this.proxy?.responseTransform !== undefined;
  }
}

export interface InvocationBegin {
  traceId: string;
  clock: StageClock;
  trace: InvocationTrace | undefined;
}
