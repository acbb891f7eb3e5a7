import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Caller } from '@sluice/credentials';
import { newOpeningBudget } from '@sluice/vault';
import type { HeldBody } from '../budgets/held-body.ts';
import type { BodyDirection } from '../budgets/room.ts';
import type { Target } from '../destination/index.ts';
import type { OpenedBody } from '../detokenization/opened-body.ts';
import type { RequestMessage } from '../http/message.ts';
import type { StageClock } from '../observation/stage-clock.ts';
import type { InvocationTrace } from '../observation/trace.ts';
import type { ProxyDefinition } from './definition.ts';

/** What a request says about itself, before anything is looked up. */
export interface InvocationHead {
  method: string;
  /** Raw path behind `/proxy`; '' where there is none. */
  suffix: string;
  /** Raw query with its `?`, less the proxy key; '' where there is none. */
  query: string;
  proxyKey: string;
  /** Undefined where none was sent. */
  apiKey: string | undefined;
  keepAlive: string | undefined;
  connection: string | undefined;
  /** What the call says in `CDN-Loop`. */
  cdnLoop: string;
}

/**
 * One call of a Proxy, from its head to the end of its answer. Every step takes it, and leaves in it what the next steps
 * need: `head`, `proxy`, `caller`, `target` and `message`, in this order. Where a step fails, those of later ones stay
 * undefined, which only the access log has to expect.
 */
export class Invocation {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly traceId: string;
  readonly clock: StageClock;
  /** Undefined where traces are off. */
  readonly trace: InvocationTrace | undefined;

  head!: InvocationHead;
  proxy!: ProxyDefinition;
  /** Undefined where the Proxy asks for no key: then the key is looked at only when the body holds an expression. */
  caller: Caller | undefined;
  target!: Target;
  /** What goes to the destination: as it came, then with values in it, then as its transform wrote it. */
  message!: RequestMessage;
  /** From when its tokens are opened until their values are in the body. */
  opened: OpenedBody | undefined;
  /** How many steps it has taken. */
  step = 0;

  /** One of its Tenant's places is taken, and must be given back. */
  hasPlace = false;
  /** The bytes that its bodies take; they are given back when the invocation is over. */
  readonly held: Partial<Record<BodyDirection, HeldBody>> = {};
  /** Its answer has gone out or its caller has left; whether it still works for either. */
  isClosed = false;
  isSettled = false;
  /** How many tokens it has disclosed. */
  tokens: number | undefined;
  /** How much of the data of tokens it may still have opened. */
  readonly opening = newOpeningBudget();
  /** How many expressions its body and its transforms have had read. */
  expressions = 0;
  destinationStatus: number | undefined;
  /** Why there was no answer; `caller_gone` where the caller left. */
  errorCode: string | undefined;
  /** The secrets that its transforms have seen. They are never logged; what transforms print is cleaned of them. */
  sensitive: unknown[] = [];
  /** The body, where expressions are replaced while it streams. It is destroyed when the invocation is over. */
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
